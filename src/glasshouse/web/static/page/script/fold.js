// @ts-check
/**
 * The words of a run, folded one record after another: its lines and scenes, and what happened between them. The script of the page
 * and the transcript of a shared file are made of this.
 *
 * Always holds: an entry is made of the view at its own moment and is never changed, so a line keeps the name, the colour and the
 * place that it had when it was said.
 *
 * @typedef {import("page/apply").View} View
 * @typedef {import("page/apply").Record} Record
 * @typedef {import("page/script/marks").Fact} Fact
 * @typedef {"line"|"judge"|"visitor"|"world"|"thought"} LineKind
 * @typedef {{k: number, id: string, kind: LineKind, icon: string, actor: string, face: string, name: string, colour: number, graph: string,
 *   place: string, channel: string, text: string, verb: string, turn: number, tokens: number, usd: number|null|undefined, thought: string,
 *   mood: string, answers: string, owing: string[], isJudge: boolean, isPrivileged: boolean, isCopy: boolean}} Line
 *   `owing` are the names of those who owe it an answer; a copy was said in another graph already
 * @typedef {{k: number, title: string, line: Line|null, fact: Fact|null}} Entry `title` where a scene begins
 */
import { owedBy } from "page/addressee";
import { apply, cloneView, colourOf, graphOf, nameOf } from "page/apply";
import { titleOf } from "page/graph/summary";
import { harmless } from "page/plain";
import { factOf, goneWith, makePlaces } from "page/script/marks";

const spoken = new Set(["line", "judge", "visitor", "world", "thought"]);
/** Who says or shows something in several graphs at once. */
const saidInSeveral = new Set(["visitor", "world"]);

/** A fold that goes on from a view. @param {View} start the view before the first record */
export function foldFrom(start) {
  const view = cloneView(start);
  /** The names of those who are gone, by their handles. @type {Map<string, string>} */
  const former = new Map();
  const places = makePlaces();
  return {
    view,
    /** Take in the next record; nothing if it tells a reader nothing. @param {Record} record @returns {Entry|null} */
    take(record) {
      const before = view.scene.title;
      const gone = goneWith(view, record);
      for (const { handle, name } of gone.creatures) former.set(handle, name);
      apply(view, record);
      if (record.d.some(([, path]) => path[0] === "creatures" && path.length === 2)) places.forget();
      const { n, title = "" } = view.scene;
      const heading = n === record.k && title && title !== before ? harmless(title) : "";
      const line = lineOf(view, record, places);
      const fact = line ? null : factOf(view, record, gone, former, places);
      return heading || line || fact ? { k: record.k, title: heading, line, fact } : null;
    },
  };
}

/** @param {View} view @param {Record} record @param {ReturnType<typeof makePlaces>} places @returns {Line|null} */
function lineOf(view, record, places) {
  const { icon, actor, text = "", channel = "", turn, tokens = 0, usd } = record.row;
  const isCopy = icon === "copy" && saidInSeveral.has(actor);
  if (!text || !(isCopy || spoken.has(icon))) return null;
  const kind = /** @type {LineKind} */ (isCopy ? actor : icon);
  const graph = graphOf(view, record);
  const face = speakerOf(view, record);
  const creature = view.creatures[face];
  const own = creature?.line?.n === record.k ? creature.line : undefined;
  return {
    k: record.k,
    id: record.id,
    kind,
    icon,
    actor,
    face: creature ? face : "",
    name: kind === "visitor" ? "A visitor" : creature ? titleOf(creature) : harmless(nameOf(actor)),
    colour: colourOf(view, graph),
    graph,
    place: places.of(view, graph),
    channel,
    text: harmless(text),
    verb: verbOf(kind, own?.kind ?? ""),
    turn,
    tokens,
    usd,
    thought: textIn(record, face, "thought"),
    mood: textIn(record, face, "mood"),
    answers: own?.answers ?? "",
    owing: creature ? owedBy(record, face).flatMap((id) => (view.creatures[id]?.owes ? [titleOf(view.creatures[id])] : [])) : [],
    isJudge: creature?.role === "judge",
    isPrivileged: creature?.is_privileged ?? false,
    isCopy,
  };
}

/** @param {View} view @param {Record} record */
function speakerOf(view, record) {
  for (const [, path] of record.d) if (path[0] === "creatures" && path[2] === "line") return path[1];
  const { actor } = record.row;
  if (view.creatures[actor]?.handle === actor) return actor;
  return Object.keys(view.creatures).find((id) => view.creatures[id].handle === actor) ?? "";
}

/** What an event tells of a creature's mind, where the role may read it. @param {Record} record @param {string} creature @param {string} what */
function textIn(record, creature, what) {
  const op = record.d.find(([, path]) => path[0] === "creatures" && path[1] === creature && path[2] === what);
  return typeof op?.[2] === "string" ? harmless(op[2]) : "";
}

/** What a line does, in words: a kind of a world's own is shown as it is. @param {string} kind of row @param {string} event its kind */
function verbOf(kind, event) {
  if (kind === "visitor") return "disturbs";
  if (kind === "world") return "";
  if (event === "judge.verdict") return "gives the verdict";
  if (!event || event === "agent.spoke") return "";
  return `· ${event.replace(/[._-]+/g, " ")}`;
}
