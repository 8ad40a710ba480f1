// @ts-check
/**
 * The machinery between two lines in plain words: who joined whom, who came and went, who used what, who stayed silent.
 *
 * Always holds: words come from what a record changes, not from its text, wherever the change tells it.
 *
 * @typedef {import("page/apply").View} View
 * @typedef {import("page/apply").Record} Record
 * @typedef {{k: number, colour: number, places: string[]}
 *   & ({type: "merge", gone: string[], into: string, by: string} | {type: "split", from: string, born: string[], by: string}
 *   | {type: "came"|"left", names: string[]} | {type: "deed"|"tool"|"error"|"wire"|"run", who: string, text: string}
 *   | {type: "joins"|"leaves", who: string, channel: string} | {type: "opens"|"closes", channel: string}
 *   | {type: "silence"|"approval", who: string})} Fact something that is told between two lines
 */
import { listed } from "page/addressee";
import { colourOf, creatureCalled, graphOf, nameOf } from "page/apply";
import { toolUse } from "page/feed/kinds";
import { graphName, titleOf } from "page/graph/summary";
import { harmless } from "page/plain";

/** Names in one sentence: a mark is one row. */
const namesMax = 4;
/** What is told between lines. Turns, sessions and calls of tools whose answer tells it are not. */
const toldIcons = new Set(["merge", "split", "creature", "channel", "wire", "tool", "silence", "approval", "error", "run"]);

/** What goes with a record and cannot be seen any more once it is applied. @param {View} view before @param {Record} record */
export function goneWith(view, record) {
  const removed = record.d.filter(([what, path]) => what === "x" && path.length === 2).map(([, path]) => path);
  return {
    graphs: removed.filter(([table, id]) => table === "graphs" && view.graphs[id]).map(([, id]) => graphName(view.graphs[id])),
    creatures: removed.filter(([table, id]) => table === "creatures" && view.creatures[id]).map(([, id]) => ({ handle: view.creatures[id].handle, name: titleOf(view.creatures[id]) })),
    channels: removed.filter(([table, id]) => table === "channels" && view.channels[id]).map(([, id]) => harmless(view.channels[id].name)),
    edges: record.d.filter(([what, path]) => what === "x" && path[0] === "channels" && path[2] === "edges" && view.channels[path[1]] && view.creatures[path[3]]).map(([, path]) => ({ who: titleOf(view.creatures[path[3]]), channel: harmless(view.channels[path[1]].name) })),
  };
}

/**
 * What a record that is no line tells between two lines; nothing for most of it.
 * @param {View} view after the record @param {Record} record @param {ReturnType<typeof goneWith>} gone
 * @param {Map<string, string>} former names of those who are gone, by their handles @param {ReturnType<typeof makePlaces>} places
 * @returns {Fact|null}
 */
export function factOf(view, record, gone, former, places) {
  const { icon, actor, text = "" } = record.row;
  if (!toldIcons.has(icon)) return null;
  const graph = graphOf(view, record);
  const place = places.of(view, graph);
  const base = { k: record.k, colour: colourOf(view, graph), places: [place] };
  const who = former.get(actor) ?? harmless(nameOf(actor, view));
  switch (icon) {
    case "merge":
      return gone.graphs.length ? { ...base, type: "merge", gone: gone.graphs, places: [place, ...gone.graphs], into: place, by: "" } : null;
    case "split": {
      const born = setIn(record, "graphs").filter((id) => view.graphs[id] && id !== graph).map((id) => places.of(view, id));
      return born.length ? { ...base, type: "split", from: place, born, places: [place, ...born], by: "" } : null;
    }
    case "creature": {
      const came = setIn(record, "creatures").filter((id) => view.creatures[id]);
      if (came.length) return { ...base, type: "came", names: came.map((id) => titleOf(view.creatures[id])) };
      return gone.creatures.length ? { ...base, type: "left", names: gone.creatures.map(({ name }) => name) } : null;
    }
    case "channel":
      return channelFact(view, record, base, gone);
    case "wire":
      return { ...base, type: "wire", who: "", text: withNames(text, view, former) };
    case "tool":
      if (toolUse.test(text)) return text.includes(": ") ? null : { ...base, type: "tool", who, text: harmless(text) };
      return { ...base, type: "deed", who, text: withNames(text, view, former) };
    case "silence":
    case "approval":
      return { ...base, type: icon, who };
    case "error":
      return { ...base, type: "error", who, text: harmless(text) };
    case "run":
      return { ...base, type: "run", who: "", text: runWords(withNames(text, view, former)) };
    default:
      return null;
  }
}

/** @param {View} view @param {Record} record @param {{k: number, colour: number, places: string[]}} base @param {ReturnType<typeof goneWith>} gone @returns {Fact|null} */
function channelFact(view, record, base, gone) {
  const [opened] = setIn(record, "channels");
  if (opened && view.channels[opened]) return { ...base, type: "opens", channel: harmless(view.channels[opened].name) };
  const edge = record.d.find(([what, path]) => what === "s" && path[0] === "channels" && path[2] === "edges")?.[1];
  const isLeft = /no longer/.test(record.row.text ?? "");
  if (edge && !isLeft && view.channels[edge[1]] && view.creatures[edge[3]]) return { ...base, type: "joins", who: titleOf(view.creatures[edge[3]]), channel: harmless(view.channels[edge[1]].name) };
  if (gone.edges.length) return { ...base, type: "leaves", ...gone.edges[0] };
  return gone.channels.length ? { ...base, type: "closes", channel: gone.channels[0] } : null;
}

/** The ids of what a record adds to a table. @param {Record} record @param {string} table */
const setIn = (record, table) => record.d.filter(([what, path]) => what === "s" && path[0] === table && path.length === 2).map(([, path]) => path[1]);

/** Tells how graphs are called: as they are, or as they were when they went. To look a name up among thousands of creatures takes time, so it is done once. */
export function makePlaces() {
  /** @type {Map<string, string>} */
  const shown = new Map();
  return {
    /** @param {View} view @param {string} graph */
    of(view, graph) {
      const name = view.graphs[graph]?.name ?? Object.values(view.lanes).find((lane) => lane.graph === graph && lane.name)?.name ?? "";
      let words = shown.get(name);
      if (words === undefined) shown.set(name, (words = name && graphName({ name })));
      return words;
    },
    /** Creatures came or went: a graph may be called after one. */
    forget: () => shown.clear(),
  };
}

/** A text with the names of creatures in place of their handles. @param {string} text @param {View} view @param {Map<string, string>} [former] names of those who are gone */
export function withNames(text, view, former = new Map()) {
  return harmless(text.replace(/[\p{L}\p{N}_-]+/gu, (word) => (creatureCalled(view, word) ? nameOf(word, view) : (former.get(word) ?? word))));
}

/** @param {string} text */
function runWords(text) {
  const [state, ...reason] = text.split(": ");
  const why = reason.join(": ");
  if (state === "finished") return why || "The play is over.";
  if (state === "paused") return why ? `Paused: ${why}.` : "Paused.";
  if (state === "playing") return "The run continues.";
  return text ? `${text} begins.` : "The play begins.";
}

/**
 * The same facts with who caused them: a deed has changed everything since the deed before it. Who hires somebody or sends somebody
 * away says that better than the coming and going does; a merge or a split says it better than the deed.
 * @param {Fact[]} facts
 */
function withCauses(facts) {
  /** @type {(Fact & {isMain?: boolean})[]} */
  const named = [];
  /** @type {Fact[]} */
  let since = [];
  for (const fact of facts) {
    if (fact.type !== "deed") {
      since.push(fact);
      continue;
    }
    const isJoint = since.some(({ type }) => type === "merge" || type === "split");
    const isComing = since.some(({ type }) => type === "came" || type === "left");
    for (const other of since) {
      if (other.type === "merge" || other.type === "split") named.push({ ...other, by: fact.who });
      else if (isJoint || (other.type !== "came" && other.type !== "left")) named.push(other);
    }
    if (!isJoint) named.push({ ...fact, isMain: isComing });
    since = [];
  }
  return [...named, ...since];
}

const icons = /** @type {{[type: string]: string}} */ ({ merge: "merge", split: "split", came: "creature", left: "creature", deed: "creature", tool: "tool", error: "error", wire: "wire", run: "run", joins: "channel", leaves: "channel", opens: "channel", closes: "channel", silence: "silence", approval: "approval" });

/**
 * The words of a mark: what changed the graphs or the cast first, then the rest.
 * @param {Fact[]} facts
 * @returns {{icon: string, main: string, rest: string}}
 */
export function wordsOf(facts) {
  const named = withCauses(facts);
  const main = [...named.filter(({ type }) => type === "run").map((fact) => ("text" in fact ? fact.text : "")), ...joins(named), ...parts(named), ...comings(named)];
  const rest = [...causes(named), ...troubles(named), ...uses(named), ...edges(named, main.length > 0), ...silences(named)];
  const first = main.length ? named.find(({ type }) => type === "merge" || type === "split" || type === "run") ?? named.find((fact) => ["came", "left"].includes(fact.type) || isMain(fact)) : named[0];
  const [strong = "", ...more] = main;
  return { icon: icons[first?.type ?? "deed"], main: strong, rest: [...more, ...rest].join(" ") };
}

/** @param {Fact} fact */
const isMain = (fact) => "isMain" in fact && fact.isMain === true;

/** "canopy, roots and moat join pavilion." @param {Fact[]} facts */
function joins(facts) {
  /** @type {Map<string, string[]>} */
  const gone = new Map();
  for (const fact of facts) if (fact.type === "merge") gone.set(fact.into, [...(gone.get(fact.into) ?? []), ...fact.gone]);
  return [...gone].map(([into, names]) => `${listed(names, namesMax)} ${names.length > 1 ? "join" : "joins"} ${into}.`);
}

/** "roots and moat leave pavilion." @param {Fact[]} facts */
function parts(facts) {
  /** @type {Map<string, string[]>} */
  const born = new Map();
  for (const fact of facts) if (fact.type === "split") born.set(fact.from, [...(born.get(fact.from) ?? []), ...fact.born]);
  return [...born].map(([from, names]) => `${listed(names, namesMax)} ${names.length > 1 ? "leave" : "leaves"} ${from}.`);
}

/** "Brigadier hires Wall Bat." "Weathercock and Gate Cat come in." @param {Fact[]} facts */
function comings(facts) {
  const deeds = facts.filter(isMain).map((fact) => ("text" in fact ? `${fact.who} ${fact.text}.` : ""));
  const came = facts.flatMap((fact) => (fact.type === "came" ? fact.names : []));
  const left = facts.flatMap((fact) => (fact.type === "left" ? fact.names : []));
  if (came.length) deeds.push(`${listed(came, namesMax)} ${came.length > 1 ? "come" : "comes"} in.`);
  if (left.length) deeds.push(`${listed(left, namesMax)} ${left.length > 1 ? "are" : "is"} gone.`);
  return deeds;
}

/** "Weathercock called them in." @param {Fact[]} facts */
function causes(facts) {
  const sentences = [];
  const callers = distinct(facts.flatMap((fact) => (fact.type === "merge" && fact.by ? [fact.by] : [])));
  const senders = distinct(facts.flatMap((fact) => (fact.type === "split" && fact.by ? [fact.by] : [])));
  if (callers.length) sentences.push(`${listed(callers)} called them in.`);
  if (senders.length) sentences.push(`${listed(senders)} let them go.`);
  return sentences;
}

/** @param {Fact[]} facts */
function troubles(facts) {
  const lost = distinct(facts.flatMap((fact) => (fact.type === "error" ? [fact.who] : [])));
  const asking = distinct(facts.flatMap((fact) => (fact.type === "approval" ? [fact.who] : [])));
  return [...(lost.length ? [`${listed(lost, namesMax)} did not answer.`] : []), ...asking.map((who) => `${who} wants to change the graph.`)];
}

/** What was done with tools, and changed neither graphs nor cast. @param {Fact[]} facts */
function uses(facts) {
  const deeds = facts.flatMap((fact) => (fact.type === "deed" && !isMain(fact) ? [`${fact.who} ${fact.text}.`] : []));
  const tools = facts.flatMap((fact) => (fact.type === "tool" ? [`${fact.who} uses ${fact.text}.`] : []));
  return distinct([...deeds, ...tools]);
}

/** Who joined which channel. What graphs and cast tell already is not told again. @param {Fact[]} facts @param {boolean} hasMain */
function edges(facts, hasMain) {
  if (hasMain || facts.some(({ type }) => type === "deed")) return [];
  /** @type {Map<string, string[]>} */
  const groups = new Map();
  for (const fact of facts) {
    if (fact.type !== "joins" && fact.type !== "leaves") continue;
    const key = `${fact.type} #${fact.channel}`;
    groups.set(key, distinct([...(groups.get(key) ?? []), fact.who]));
  }
  const moved = [...groups].map(([what, names]) => `${listed(names, namesMax)} ${names.length > 1 ? what.replace(/^(join|leave)s/, "$1") : what}.`);
  const made = facts.flatMap((fact) => (fact.type === "opens" || fact.type === "closes" ? [`#${fact.channel} ${fact.type}.`] : fact.type === "wire" ? [`${fact.text}.`] : []));
  return [...moved, ...made];
}

/** @param {Fact[]} facts */
function silences(facts) {
  const silent = distinct(facts.flatMap((fact) => (fact.type === "silence" ? [fact.who] : [])));
  return silent.length ? [`${listed(silent, namesMax)} ${silent.length > 1 ? "stay" : "stays"} silent.`] : [];
}

/** @param {string[]} names */
const distinct = (names) => [...new Set(names)];
