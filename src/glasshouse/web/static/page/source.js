// @ts-check
/**
 * Where the page reads from: the server. A shared file has a source of the same shape (`page/share/file_source`).
 *
 * @typedef {import("page/apply").View} View
 * @typedef {import("page/apply").Record} Record
 * @typedef {import("page/following").Handlers} Handlers
 * @typedef {ReturnType<typeof serverSource>} Source
 */
import { followed } from "page/following";

export const recordsPerPage = 1000;
const fileNameCharsMax = 200;

/** An answer of the server that is no answer: its status and its reason in words. */
export class Refusal extends Error {
  /** @param {number} status @param {string} message */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/**
 * @param {string} base the address of the API, seen from the page
 */
export function serverSource(base) {
  /** @param {string} path @param {{[name: string]: any}} [query] @param {string} [token] */
  const get = (path, query = {}, token = "") => fetched(`${base}/${path}${asQuery(query)}`, token ? { headers: { authorization: `Bearer ${token}` } } : {});
  /** @param {string} run */
  const of = (run) => `runs/${encodeURIComponent(run)}`;
  /** What the server answers for: tabs that share a stream have one role. */
  let role = "";
  return {
    kind: /** @type {"server"|"file"} */ ("server"),
    /** @param {string} [token] of a link whose cookie is not there yet */
    me: async (token) => {
      const me = await get("me", {}, token);
      role = me?.role ?? "";
      return me;
    },
    worlds: () => get("worlds"),
    models: () => get("models"),
    /** What of a world may be edited before its start. @param {string} world */
    sheet: (world) => get(`worlds/${encodeURIComponent(world)}/sheet`),
    /** The files of a world as texts. @param {string} world */
    texts: (world) => get(`worlds/${encodeURIComponent(world)}/texts`),
    /** What a model was asked for an event of a rehearsal. @param {string} rehearsal @param {string} id */
    rehearsedPrompt: (rehearsal, id) => get(`rehearsals/${encodeURIComponent(rehearsal)}/events/${encodeURIComponent(id)}/prompt`),
    /** @param {{[name: string]: any}} [query] */
    leaderboard: (query) => get("leaderboard", query),
    /** @param {{[name: string]: any}} [query] */
    archive: (query) => get("archive", query),
    /** Where a list can be downloaded from. @param {"runs"|"leaderboard"} list @param {{[name: string]: any}} query */
    listAddress: (list, query) => `${base}/${list}${asQuery(query)}`,
    /** @param {{[name: string]: any}} [query] @param {string} [token] of a link whose cookie is not there yet */
    runs: (query, token) => get("runs", query, token),
    /** @param {string} run @param {number} [at] @returns {Promise<View>} */
    view: (run, at) => get(`${of(run)}/view`, { at }),
    /**
     * The records of page number `page`: the events behind number `page * 1000`. Browsers keep full pages for ever, so the
     * address says for whom and of which runs they are.
     * @param {string} run @param {number} page @param {{role: string, story: string}} kept @returns {Promise<Record[]>}
     */
    records: (run, page, kept) => get(`${of(run)}/diffs`, { after: page * recordsPerPage, limit: recordsPerPage, ...kept }),
    /** @param {string} run */
    timeline: (run) => get(`${of(run)}/timeline`),
    /** @param {string} run @param {{[name: string]: any}} [query] */
    events: (run, query) => get(`${of(run)}/events`, query),
    /** @param {string} run @param {string} id */
    event: (run, id) => get(`${of(run)}/events/${encodeURIComponent(id)}`),
    /** @param {string} run @param {string} id @param {string} what such as why, prompt, who-knew */
    about: (run, id, what) => get(`${of(run)}/events/${encodeURIComponent(id)}/${what}`),
    /** How a run ended. @param {string} run */
    curtain: (run) => get(`${of(run)}/curtain`),
    /** @param {string} run */
    lineage: (run) => get(`${of(run)}/lineage`),
    /** Where a filtered list can be downloaded from. @param {string} run @param {{[name: string]: any}} query */
    eventsAddress: (run, query) => `${base}/${of(run)}/events${asQuery(query)}`,
    /** A run as one file, and its name. @param {string} run @param {{[name: string]: any}} query @returns {Promise<{name: string, blob: Blob}>} */
    shared: async (run, query) => {
      const answer = await answered(`${base}/${of(run)}/share.html${asQuery(query)}`);
      const name = /filename="([^"]+)"/.exec(answer.headers.get("content-disposition") ?? "")?.[1];
      return { name: name ?? "run.html", blob: await answer.blob() };
    },
    /** @param {string} path @param {any} [body] */
    post: (path, body = {}) =>
      fetched(`${base}/${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    /** Import a file, as it is. @param {File} file @returns {Promise<{session_id: string, run_id: string|null, events: number}>} */
    importFile: (file) =>
      fetched(`${base}/imports${asQuery({ name: file.name.slice(-fileNameCharsMax) })}`, {
        method: "POST",
        headers: { "content-type": "application/octet-stream" },
        body: file,
      }),
    /** Follow a story as it happens. Returns what ends it. @param {string} run @param {Handlers} handlers */
    stream: (run, handlers) => followed(new URL(`${base}/${of(run)}/stream${asQuery({ role })}`, document.baseURI).href, import.meta.resolve("page/following"), handlers),
  };
}

/** @param {{[name: string]: any}} query */
function asQuery(query) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return given.length ? `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}` : "";
}

/** An answer that is one, or a `Refusal` with its reason. @param {string} address @param {RequestInit} [how] */
async function answered(address, how) {
  let answer;
  try {
    answer = await fetch(address, how);
  } catch {
    throw new Refusal(0, "The server does not answer. Is it still running?");
  }
  if (answer.ok) return answer;
  throw new Refusal(answer.status, reasonIn(readJson(await answer.text())) ?? `The server answered ${answer.status}.`);
}

/** @param {string} address @param {RequestInit} [how] */
async function fetched(address, how) {
  const text = await (await answered(address, how)).text();
  return text ? readJson(text) : null;
}

/** @param {string} text */
function readJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** @param {any} answer @returns {string|undefined} */
function reasonIn(answer) {
  if (typeof answer?.message === "string") return answer.message;
  if (typeof answer?.detail === "string") return answer.detail;
  const first = Array.isArray(answer?.detail) ? answer.detail[0] : undefined;
  return first ? `${(first.loc ?? []).slice(1).join(".")}: ${first.msg}` : undefined;
}
