// @ts-check
/**
 * A shared run as it is read: its scenes and lines in order, who is in it, and the moments worth a visit.
 *
 * @typedef {import("page/apply").View} View
 * @typedef {import("page/apply").Record} Record
 * @typedef {import("page/share/file_source").Packed} Packed
 * @typedef {Omit<import("page/script/fold").Line, "kind"> & {kind: import("page/script/fold").LineKind|"change", heardBy: number,
 *   isKept: boolean, isVerdict: boolean}} Line
 * @typedef {{k: number, title: string, lines: Line[], opening: Line|null}} Scene
 * @typedef {{k: number, icon: string, label: string, kind: "scene"|"visitor"|"kept"|"verdict"|"change"}} Moment
 * @typedef {{id: string, handle: string, title: string, bio: string, role: string, colour: number, isPrivileged: boolean, lines: number}} Player
 */
import { colourOf, graphOf } from "page/apply";
import { harmless } from "page/plain";
import { foldFrom } from "page/script/fold";
import { withNames } from "page/script/marks";

const listen = 1;
const momentsMax = 300;
const changes = new Set(["merge", "split"]);

/** Read the whole run once. @param {Packed} packed */
export function read(packed) {
  const fold = foldFrom(packed.start);
  const { view } = fold;
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
    const entry = fold.take(record);
    numbers.set(record.id, record.k);
    meet(view, record.d.filter(([, path]) => path[0] === "creatures").map(([, path]) => path[1]), players);
    if (entry?.title) scenes.push({ k: record.k, title: entry.title, lines: [], opening: null });
    const line = lineOf(view, record, entry?.line ?? null, packed, kept);
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

/**
 * The line of a record as a file shows it: with how many heard it, and whether a judge kept it. Merges and splits are lines there.
 * @param {View} view @param {Record} record @param {import("page/script/fold").Line|null} line @param {Packed} packed @param {Set<number>} kept
 * @returns {Line|null}
 */
function lineOf(view, record, line, packed, kept) {
  if (line?.isCopy) return null;
  const judged = { isKept: kept.has(record.k), isVerdict: record.k === packed.decided_at };
  if (line) return { ...line, heardBy: hearersOf(view, line.graph, line.channel, line.face), ...judged };
  const { icon, actor, text = "", turn, tokens = 0, usd } = record.row;
  if (!text || !changes.has(icon)) return null;
  const graph = graphOf(view, record);
  return {
    ...{ k: record.k, id: record.id, kind: "change", icon, actor, face: "", name: icon === "merge" ? "Merge" : "Split", colour: colourOf(view, graph) },
    ...{ graph, place: "", channel: "", text: withNames(text, view), verb: "", turn, tokens, usd, thought: "", mood: "", answers: "", owing: [] },
    ...{ isJudge: false, isPrivileged: false, isCopy: false, heardBy: 0, ...judged },
  };
}

/** @param {View} view @param {string} graph @param {string} channel @param {string} speaker */
function hearersOf(view, graph, channel, speaker) {
  const others = Object.entries(view.creatures).filter(([id, creature]) => id !== speaker && creature.graph === graph);
  if (!channel) return others.length;
  const entry = Object.values(view.channels).find((entry) => entry.graph === graph && entry.name === channel);
  return others.filter(([id]) => (entry?.edges[id] ?? 0) & listen).length;
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
