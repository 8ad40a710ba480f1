// @ts-check
/**
 * The source of a shared file: everything is in the file, packed. It has the shape of the server's source.
 *
 * @typedef {import("page/apply").View} View
 * @typedef {import("page/apply").Record} Record
 * @typedef {{id: string, name: string, at: string, k: number, events: number}} Branch
 * @typedef {{format: number, role: string, run_id: string, run: import("page/apply").Run, first: number, events: number,
 *   world: string, models: string[], began: string, ended: string, decided_at: number|null, kept: number[],
 *   digest: string|null, command: string|null, file_name: string, branches: Branch[], start: View,
 *   timeline: import("page/timeline").Timeline, records: Record[]}} Packed
 */
import { apply, cloneView } from "page/apply";
import { recordsPerPage, Refusal } from "page/source";

/** Unpack a text of base64 that holds gzipped JSON. @param {string} text @returns {Promise<{json: string, packed: Packed}>} */
export async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const json = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  return { json, packed: JSON.parse(json) };
}

/** @param {Packed} packed @returns {import("page/source").Source} */
export function fileSource(packed) {
  const { records, start, first } = packed;
  const head = records[records.length - 1].k;
  const not = () => Promise.reject(new Refusal(0, "This is a recorded run. To change it, play it yourself."));
  /** @type {Map<number, View>} */
  const starts = new Map();

  /** The view at a number. Before the part that the file has, everything is as it was at its beginning. @param {number} k */
  const viewAt = (k) => {
    const near = Math.floor(k / recordsPerPage) * recordsPerPage;
    const view = cloneView(starts.get(near) ?? start);
    if (view.k > k) return { ...view, k };
    for (let number = view.k + 1; number <= k; number += 1) {
      apply(view, records[number - first]);
      if (number % recordsPerPage === 0) starts.set(number, cloneView(view));
    }
    return view;
  };
  /** @param {number} k @returns {Record} */
  const recordAt = (k) =>
    records[k - first] ?? { k, p: start.position, id: start.event_id, row: { icon: "turn", actor: "", turn: 0 }, d: [] };

  return {
    kind: /** @type {const} */ ("file"),
    me: async () => ({ role: packed.role, is_guest: false, holder: null }),
    worlds: async () => [],
    models: async () => ({ sizes: [], names: [] }),
    sheet: async () => null,
    texts: async () => null,
    rehearsedPrompt: async () => null,
    leaderboard: async () => [],
    runs: async () => [],
    /** @param {string} _run @param {number} [at] */
    view: async (_run, at = head) => viewAt(at),
    /** @param {string} _run @param {number} page */
    records: async (_run, page) => {
      const before = page * recordsPerPage;
      return Array.from({ length: Math.min(recordsPerPage, head - before) }, (_, at) => recordAt(before + at + 1));
    },
    timeline: async () => packed.timeline,
    events: async () => ({ events: [], next: null }),
    event: not,
    about: not,
    curtain: not,
    lineage: async () => ({ run_id: packed.run_id, sessions: [], sessions_count: 0, family: [], family_count: 0 }),
    eventsAddress: () => "",
    listAddress: () => "",
    archive: async () => ({ total: 0, runs: [], worlds: [], labels: [] }),
    shared: not,
    post: not,
    importFile: not,
    /** The story is over for this file: its last view, and nothing after it.
     * @param {string} _run @param {import("page/source").Handlers} handlers */
    stream: (_run, handlers) => {
      queueMicrotask(() => {
        handlers.onConnection(true);
        handlers.onView(viewAt(head));
        handlers.onSignal({ driver: { [packed.run_id]: { state: "idle", speed: "reading" } } }); // Nobody plays it on here.
      });
      return () => {};
    },
  };
}
