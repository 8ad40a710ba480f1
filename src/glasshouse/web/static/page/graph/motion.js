// @ts-check
/**
 * What moves for a moment: pulses, rings, births and deaths, colours on their way.
 *
 * Always holds: a progress is between 0 and 1 (the time of a frame can be earlier than that of the event it shows), and there
 * is a bound on everything.
 */

/** @typedef {import("page/graph/layout").Node} Node */
/**
 * @typedef {{from: string, to: string, isWire: boolean, start: number, milliseconds: number}} Pulse
 * @typedef {{node?: string, graph?: string, kind: "speaker"|"change"|"disturbance", start: number, milliseconds: number}} Ring
 */

const times = { toChannel: 620, toListener: 560, speaker: 900, mouth: 1500, change: 1300, disturbance: 1800, birth: 500, death: 420, draw: 600, join: 700, highlight: 1000, glow: 700 };
const pulsesMax = 400;
const wireMillisecondsMin = 120;
const messagesPerSecondMax = 60;
const ringsMax = 60;

/** How far something is, from 0 to 1. @param {number} now @param {number} start @param {number} milliseconds */
export const progress = (now, start, milliseconds) => Math.max(0, Math.min(1, (now - start) / milliseconds));
/** @param {number} share */
export const easeOut = (share) => 1 - (1 - share) ** 3;

/** @param {() => boolean} isReduced whether the system asks for less motion */
export function makeMotion(isReduced) {
  /** @type {Pulse[]} */
  let pulses = [];
  /** @type {Ring[]} */
  let rings = [];
  /** @type {Map<string, number>} */
  const births = new Map();
  /** @type {Map<string, {node: Node, start: number}>} */
  const deaths = new Map();
  /** @type {Map<string, number>} */
  const drawn = new Map();
  /** @type {Map<string, number>} */
  const joins = new Map();
  /** @type {Map<string, number>} */
  const mouths = new Map();
  /** @type {Map<string, number>} */
  const glows = new Map();
  /** @type {Map<string, number>} */
  const highlights = new Map();
  /** @type {Map<string, number>} */
  const lastPulse = new Map();
  /** @type {number[]} */
  let messages = [];

  /** @param {string} from @param {string} to @param {number} start @param {number} milliseconds @param {boolean} isWire */
  function pulse(from, to, start, milliseconds, isWire) {
    const key = from < to ? `${from} ${to}` : `${to} ${from}`;
    if (messages.length > messagesPerSecondMax) {
      glows.set(key, start + times.glow);
      return;
    }
    if (pulses.length >= pulsesMax || start - (lastPulse.get(key) ?? -Infinity) < wireMillisecondsMin) return;
    lastPulse.set(key, start);
    pulses.push({ from, to, isWire, start, milliseconds });
  }

  /** @param {Ring} ring */
  const addRing = (ring) => {
    rings = [...rings, ring].slice(-ringsMax);
  };
  /** @param {string} id @param {number} now */
  const highlight = (id, now) => highlights.set(id, now + times.highlight);

  return {
    times,
    pulses: () => pulses,
    rings: () => rings,
    births,
    deaths,
    drawn,
    joins,
    mouths,
    glows,
    highlights,
    /**
     * Somebody said something.
     * @param {string} speaker
     * @param {string|undefined} channel
     * @param {string[]} listeners
     * @param {string[]} wired who gets it by a wire
     * @param {number} now
     */
    say(speaker, channel, listeners, wired, now) {
      mouths.set(speaker, now + times.mouth);
      if (isReduced()) {
        highlight(speaker, now);
        return;
      }
      messages = [...messages.filter((time) => now - time < 1000), now];
      addRing({ node: speaker, kind: "speaker", start: now, milliseconds: times.speaker });
      if (channel) {
        pulse(speaker, channel, now, times.toChannel, false);
        for (const listener of listeners) pulse(channel, listener, now + times.toChannel, times.toListener, false);
      }
      for (const target of wired) pulse(speaker, target, now, times.toChannel, true);
    },
    /** Graphs merged or split. @param {string} graph @param {number} now */
    changeGraph(graph, now) {
      if (isReduced()) highlight(graph, now);
      else addRing({ graph, kind: "change", start: now, milliseconds: times.change });
    },
    /** @param {number} now */
    disturb(now) {
      if (isReduced()) highlight("", now);
      else addRing({ kind: "disturbance", start: now, milliseconds: times.disturbance });
    },
    /** @param {{came: Node[], went: Node[], moved: {node: Node, from: string}[]}} change @param {string[]} edges that are new @param {number} now */
    change({ came, went, moved }, edges, now) {
      if (isReduced()) {
        for (const { id } of [...came, ...moved.map(({ node }) => node)]) highlight(id, now);
        return;
      }
      for (const { id } of came) births.set(id, now);
      for (const node of went) deaths.set(node.id, { node, start: now });
      for (const { node } of moved) joins.set(node.id, now);
      for (const key of edges) drawn.set(key, now);
    },
    /** Forget what is over. Returns whether anything still moves, and when a still highlight ends. @param {number} now */
    settle(now) {
      pulses = pulses.filter(({ start, milliseconds }) => now < start + milliseconds);
      rings = rings.filter(({ start, milliseconds }) => now < start + milliseconds);
      if (lastPulse.size > 4 * pulsesMax) lastPulse.clear();
      for (const [some, milliseconds] of /** @type {[Map<string, number>, number][]} */ ([[births, times.birth], [drawn, times.draw], [joins, times.join]])) {
        for (const [key, start] of some) if (now >= start + milliseconds) some.delete(key);
      }
      for (const [id, { start }] of deaths) if (now >= start + times.death) deaths.delete(id);
      for (const some of [mouths, glows, highlights]) for (const [key, end] of some) if (now >= end) some.delete(key);
      const wakeAt = Math.min(...mouths.values(), ...highlights.values());
      return { isMoving: pulses.length + rings.length + births.size + deaths.size + drawn.size + joins.size + glows.size > 0, wakeAt };
    },
    /** Drop everything at once: somebody looks at another moment. */
    clear() {
      pulses = [];
      rings = [];
      for (const some of [births, deaths, drawn, joins, mouths, glows, highlights, lastPulse]) some.clear();
    },
  };
}
