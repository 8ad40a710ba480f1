// @ts-check
/** What the feed tells apart: speech, changes of the topology, and the world's own events. */
import { nameOf } from "page/apply";
import { harmless } from "page/plain";
import { limitWords } from "page/limits";
import { headView, session } from "page/store";

/** @typedef {import("page/apply").Record} Record */
/** @typedef {"all"|"speech"|"topology"|"world"} Kind */

/** @type {{id: Kind, label: string}[]} */
export const kinds = [
  { id: "all", label: "All" },
  { id: "speech", label: "Speech" },
  { id: "topology", label: "Topology" },
  { id: "world", label: "World" },
];

const topology = new Set(["creature", "channel", "wire", "merge", "split", "session"]);
const speech = new Set(["line", "judge", "visitor", "copy", "world"]);
const world = new Set(["world", "visitor", "copy", "run", "turn", "tool", "silence", "error", "thought", "approval"]);

/** Whether the feed shows an icon under a heading. @param {string} icon @param {string} kind */
export function isOfKind(icon, kind) {
  if (kind === "topology") return topology.has(icon);
  if (kind === "speech") return speech.has(icon);
  return kind === "world" ? world.has(icon) : true;
}

/** What a row says in a book's type: voices. */
const voiced = new Set(["line", "judge", "visitor", "copy", "world", "thought", "silence"]);

/**
 * What a row says, in words: who or what, beside it, and the line below.
 * @param {Record} record
 * @param {(handle: string) => boolean} isHandle whether a word is the name of a creature
 * @returns {{title: string, beside: string, text: string, isVoiced: boolean}}
 */
export function wordsOf(record, isHandle) {
  const { icon, actor, channel } = record.row;
  const text = harmless(record.row.text ?? "");
  const name = nameOf(harmless(actor), headView() ?? undefined);
  const channelName = channel ? `#${harmless(channel)}` : "";
  const voice = { title: name, beside: channelName, text, isVoiced: voiced.has(icon) };
  if (icon === "line") return voice;
  if (icon === "judge") return { ...voice, beside: channelName ? `judge · ${channelName}` : "judge" };
  if (icon === "copy" && actor === "world") return { ...voice, title: "Scene" };
  if (icon === "visitor" || icon === "copy") return { ...voice, title: "A visitor", beside: channelName || "disturbs the show" };
  if (icon === "world") return actor === "world" ? { ...voice, title: "Scene" } : voice;
  if (icon === "thought") return { ...voice, beside: "thinks, privately" };
  if (icon === "silence") return { ...voice, beside: "stays silent" };
  if (icon === "error") return { ...voice, beside: channelName, text: failureOf(name, text) };
  if (icon === "tool") return toolUse.test(text) ? { ...voice, beside: text.includes(": ") ? "was told" : "uses a tool" } : { ...voice, text: named(text, isHandle) };
  if (icon === "approval") return { ...voice, beside: "wants to change the graph" };
  if (icon === "run") return { ...runWords(named(text, isHandle)), isVoiced: false };
  return { ...worldWords(icon, named(text, isHandle)), isVoiced: false };
}

/** The use of a tool begins with its name. A group tool is told in a sentence, as in "hires wall-bat". */
export const toolUse = /^\S+(: |$)/;

/** @param {string} name @param {string} reason */
const failureOf = (name, reason) => (reason.startsWith(name) ? reason : `${name} did not answer. ${reason}`.trim());

/** @param {string} text */
function runWords(text) {
  const [state, ...reason] = text.split(": ");
  const title = { playing: "The run continues", paused: "Paused", finished: "Finished" }[state];
  if (!title) return { title: "The play begins", beside: "", text };
  const why = reason.join(": ");
  if (why === "budget") return { title, beside: "", text: `Stopped: ${limitWords(headView()?.runs[session.value.run]?.axis)}.` };
  return { title, beside: "", text: state === "playing" ? "from where it stopped" : (endings[why] ?? why) };
}

/** How records of older versions tell an ending; newer ones have the sentence. */
const endings = /** @type {{[reason: string]: string}} */ ({
  ended: "The play is over.",
  stopped: "It was stopped.",
  no_contest: "It ended without a contest.",
});

const titles = /** @type {{[icon: string]: string}} */ ({
  creature: "Cast",
  channel: "Channel",
  wire: "Wire",
  merge: "Merged",
  split: "Split",
  session: "Session",
  turn: "Turn",
});

/** @param {string} icon @param {string} text */
function worldWords(icon, text) {
  const edge = icon === "channel" ? /^(.+?) (no longer )?(listens|speaks) on (#.+)$/.exec(text) : null;
  if (edge) return { title: edge[2] ? "Left" : "Joined", beside: `${edge[1]} · ${edge[4]}`, text: `${edge[2] ?? "now "}${edge[3]} here` };
  const words = icon === "split" ? text.replace(/ is (\d+) graphs$/, " is now $1 graphs") : text;
  return { title: titles[icon] ?? icon, beside: "", text: words || "creatures take their places" };
}

/** The same text with the handles in it as names. @param {string} text @param {(handle: string) => boolean} isHandle */
export const named = (text, isHandle) => text.replace(/[\p{L}\p{N}_-]+/gu, (word) => (isHandle(word) ? nameOf(word, headView() ?? undefined) : word));
