// @ts-check
/**
 * A shared run as it is read: its scenes and lines in order, who is in it, and the moments worth a visit.
 *
 * @typedef {import("page/apply").View} View
 * @typedef {import("page/apply").Record} Record
 * @typedef {import("page/share/file_source").Packed} Packed
 * @typedef {{k: number, id: string, kind: "line"|"judge"|"visitor"|"world"|"change"|"thought", actor: string, face: string, colour: number,
 *   text: string, verb: string, channel: string, turn: number, tokens: number, usd: number|null|undefined, thought: string, mood: string,
 *   answers: string, heardBy: number, isKept: boolean, isJudge: boolean, isVerdict: boolean, name: string, icon: string}} Line
 * @typedef {{k: number, title: string, lines: Line[], opening: Line|null}} Scene
 * @typedef {{k: number, icon: string, label: string, kind: "scene"|"visitor"|"kept"|"verdict"|"change"}} Moment
 * @typedef {{id: string, handle: string, title: string, bio: string, role: string, colour: number, isPrivileged: boolean, lines: number}} Player
 */
import { apply, cloneView, colourOf, creatureCalled, graphOf, nameOf } from "page/apply";
import { harmless } from "page/plain";

const listen = 1;
const momentsMax = 300;
const changes = new Set(["merge", "split"]);

/** Read the whole run once. @param {Packed} packed */
export function read(packed) {
  const view = cloneView(packed.start);
  const kept = new Set(packed.kept);
  /** @type {Scene[]} */
  const scenes = [{ k: packed.first, title: "", lines: [], opening: null }];
  /** @type {Map<string, Player>} */
  const players = new Map();
  /** @type {Map<string, number>} */
  const numbers = new Map();
  /** @type {Set<string>} */
  const channels = new Set();
  meet(view, Object.keys(view.creatures), players);
  for (const record of packed.records) {
    const title = view.scene.title;
    apply(view, record);
    numbers.set(record.id, record.k);
    meet(view, record.d.filter(([, path]) => path[0] === "creatures").map(([, path]) => path[1]), players);
    if (view.scene.n === record.k && view.scene.title && view.scene.title !== title) {
      scenes.push({ k: record.k, title: harmless(view.scene.title), lines: [], opening: null });
    }
    const line = lineOf(view, record, packed, kept);
    if (!line) continue;
    if (line.channel) channels.add(line.channel);
    const scene = scenes[scenes.length - 1];
    if (scene.title && scene.k === line.k) scene.opening = line;
    else scene.lines.push(line);
    const player = players.get(line.face);
    if (player && line.kind !== "thought") player.lines += 1;
  }
  const shown = scenes.filter((scene) => scene.title || scene.lines.length);
  const lines = shown.flatMap((scene) => (scene.opening ? [scene.opening, ...scene.lines] : scene.lines));
  const hasMinds = packed.role !== "spectator" && lines.some((line) => line.thought || line.kind === "thought");
  return { hasMinds, hasChannels: channels.size > 1, scenes: shown, lines, players: [...players.values()], numbers, moments: momentsOf(shown), head: view };
}

/** @param {View} view @param {Iterable<string>} ids @param {Map<string, Player>} players */
function meet(view, ids, players) {
  for (const id of ids) {
    const creature = view.creatures[id];
    if (!creature) continue;
    const known = players.get(id);
    players.set(id, {
      id,
      handle: creature.handle,
      title: harmless(creature.title ?? ""),
      bio: harmless(creature.bio ?? ""),
      role: creature.role,
      colour: known?.colour ?? colourOf(view, creature.graph),
      isPrivileged: creature.is_privileged,
      lines: known?.lines ?? 0,
    });
  }
}

/** @param {View} view @param {Record} record @param {Packed} packed @param {Set<number>} kept @returns {Line|null} */
function lineOf(view, record, packed, kept) {
  const { icon, actor, text = "", channel = "", turn, tokens = 0, usd } = record.row;
  const isChange = changes.has(icon);
  if (!text || !(isChange || ["line", "judge", "visitor", "world", "thought"].includes(icon))) return null;
  const graph = graphOf(view, record);
  const face = speakerOf(view, record);
  const creature = view.creatures[face];
  const isOwn = creature?.line?.n === record.k;
  return {
    k: record.k,
    id: record.id,
    kind: isChange ? "change" : /** @type {Line["kind"]} */ (icon),
    actor,
    face: creature ? face : "",
    colour: colourOf(view, graph),
    text: harmless(isChange ? withNames(text, view) : text),
    verb: verbOf(icon, isOwn ? (creature?.line?.kind ?? "") : ""),
    channel,
    turn,
    tokens,
    usd,
    thought: textIn(record, face, "thought"),
    mood: textIn(record, face, "mood"),
    answers: isOwn ? (creature?.line?.answers ?? "") : "",
    heardBy: isChange ? 0 : hearersOf(view, graph, channel, face),
    isKept: kept.has(record.k),
    isJudge: creature?.role === "judge",
    isVerdict: record.k === packed.decided_at,
    name: icon === "visitor" ? "A visitor" : isChange ? (icon === "merge" ? "Merge" : "Split") : harmless(nameOf(actor, creature ? view : undefined)),
    icon,
  };
}

/** A text about graphs, which are called after creatures, with their names in place of their handles. @param {string} text @param {View} view */
function withNames(text, view) {
  return text
    .split(" ")
    .map((word) => (creatureCalled(view, word) ? nameOf(word, view) : word))
    .join(" ");
}

/** @param {View} view @param {Record} record */
function speakerOf(view, record) {
  for (const [, path] of record.d) if (path[0] === "creatures" && path[2] === "line") return path[1];
  return Object.keys(view.creatures).find((id) => view.creatures[id].handle === record.row.actor) ?? "";
}

/** What an event tells of a creature's mind, where the file has it. @param {Record} record @param {string} creature @param {string} what */
function textIn(record, creature, what) {
  const op = record.d.find(([, path]) => path[0] === "creatures" && path[1] === creature && path[2] === what);
  return typeof op?.[2] === "string" ? harmless(op[2]) : "";
}

/** @param {View} view @param {string} graph @param {string} channel @param {string} speaker */
function hearersOf(view, graph, channel, speaker) {
  const others = Object.entries(view.creatures).filter(([id, creature]) => id !== speaker && creature.graph === graph);
  if (!channel) return others.length;
  const entry = Object.values(view.channels).find((entry) => entry.graph === graph && entry.name === channel);
  return others.filter(([id]) => (entry?.edges[id] ?? 0) & listen).length;
}

/** What a line does, in words: a kind of a world's own is shown as it is. @param {string} icon @param {string} kind */
function verbOf(icon, kind) {
  if (icon === "visitor") return "disturbs";
  if (icon === "world") return "";
  if (kind === "judge.verdict") return "gives the verdict";
  if (!kind || kind === "agent.spoke") return "";
  return `· ${kind.replace(/[._-]+/g, " ")}`;
}

/** @param {Scene[]} scenes @returns {Moment[]} */
function momentsOf(scenes) {
  /** @type {Moment[]} */
  const moments = [];
  for (const scene of scenes) {
    if (scene.title) moments.push({ k: scene.k, icon: "session", label: scene.title, kind: "scene" });
    for (const line of scene.lines) {
      if (line.kind === "visitor") moments.push({ k: line.k, icon: "bolt", label: line.text, kind: "visitor" });
      else if (line.kind === "change") moments.push({ k: line.k, icon: line.icon, label: line.text, kind: "change" });
      else if (line.isVerdict) moments.push({ k: line.k, icon: "judge", label: "The verdict", kind: "verdict" });
      else if (line.isKept) moments.push({ k: line.k, icon: "flag", label: `${line.name}: ${line.text}`, kind: "kept" });
    }
  }
  // Of very many the most telling are kept: verdicts and what they rest on, disturbances, merges and splits, then scenes.
  const kinds = ["verdict", "kept", "visitor", "change", "scene"];
  const kept = new Set([...moments].sort((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind)).slice(0, momentsMax));
  return moments.filter((listed) => kept.has(listed));
}
