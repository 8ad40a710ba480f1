// @ts-check
/** What the page asks the server to do. A refusal is shown in the server's own words, and nothing changes on the page. */
import { nameOf } from "page/apply";
import { harmless } from "page/plain";
import { toast } from "page/toast";
import { record, session, shown, source, view } from "page/store";

/**
 * @param {string} path
 * @param {any} [body]
 * @returns {Promise<any>} the answer; undefined if it was refused
 */
export async function post(path, body) {
  try {
    return (await source().post(path, body)) ?? {};
  } catch (wrong) {
    toast(wrong instanceof Error ? wrong.message : String(wrong), { kind: "error" });
    return undefined;
  }
}

/** @param {string} what @param {any} [body] @param {string} [run] */
const ofRun = (what, body, run = session.value.run) => post(`runs/${encodeURIComponent(run)}/${what}`, body);

/** The notes on runs that were shown already. @type {Set<string>} */
const notesShown = new Set();

/**
 * Show once what differs from here on in a run that goes on, if anything does.
 * @param {any} run the answer to a command that plays a run
 */
function withNote(run) {
  const note = run?.prompting_note;
  if (note && !notesShown.has(note)) {
    notesShown.add(note);
    toast(note);
  }
  return run;
}

/** @param {"reading"|"fast"} [speed] */
export const play = async (speed) => withNote(await ofRun("play", speed ? { speed } : {}));
export const pause = () => ofRun("pause");
/** Wait no longer for the line that is being read. */
export const nextLine = () => ofRun("next");
export const step = async () => withNote(await ofRun("step"));
/** Finish the run. What has begun ends first. */
export const finish = () => ofRun("finish");
/** Play on a run that is over, in a child of it. */
export const resume = async () => withNote(await ofRun("resume"));
/** @param {string} text @param {string} [graph] */
export const disturb = (text, graph) => ofRun("disturb", { text, ...(graph ? { graph } : {}) });
/** @param {any} limits */
export const raiseLimits = async (limits) => withNote(await ofRun("limits", { limits }));

/** Branch at the moment shown, or at an event. @param {any} [change] @param {string} [eventId] */
export const branch = async (change = {}, eventId = view()?.event_id ?? record(shown.value)?.id) =>
  withNote(await ofRun("branch", { at: eventId, ...change }));

/** Allow or refuse what a creature proposes. @param {string} creature @param {boolean} isApproved */
export const answerProposal = (creature, isApproved) => post("approvals", { creature, is_approved: isApproved });

/** Let a run's creatures use a tool as it was read here, and no later change of it. @param {string} run @param {string} tool @param {string} digest */
export const acceptTool = (run, tool, digest) => edit("accept_tool", { run, target: tool, digest });

/** Change the graph. @param {string} what @param {any} fields */
export const edit = (what, fields) => post("edits", { what, ...fields });

/**
 * What a change would do, in words; nothing is changed.
 * @param {string} what
 * @param {any} fields
 * @returns {Promise<{text: string, isRefused: boolean}>}
 */
export async function forecast(what, fields) {
  try {
    const change = await source().post("edits", { what, ...fields, dry_run: true });
    return { text: sentenceOf(change), isRefused: false };
  } catch (wrong) {
    return { text: wrong instanceof Error ? wrong.message : String(wrong), isRefused: true };
  }
}

/** @param {{kind: string, old_graph_ids: string[], new_graph_ids: string[]}} change */
function sentenceOf(change) {
  const now = view();
  const names = change.old_graph_ids.map((id) => (now?.graphs[id] ? harmless(nameOf(now.graphs[id].name)) : id));
  if (change.kind === "merge") return `Merges ${names.join(" and ")}`;
  if (change.kind === "split") return `Splits ${names.join(" and ")} into ${change.new_graph_ids.length}`;
  return "Graphs stay as they are";
}
