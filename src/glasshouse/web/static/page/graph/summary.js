// @ts-check
/** The graph in words, for who does not see it. */
import { nameOf } from "page/apply";
import { harmless } from "page/plain";

const namesMax = 12;
const numbers = new Intl.NumberFormat("en"); // Made once: to make one takes longer than to use it.

/** A creature's name as it is shown. @param {import("page/apply").Creature} creature */
export const titleOf = (creature) => harmless(creature.title || nameOf(creature.handle));

/** A graph's name as it is shown. The server names graphs, and none like a creature. @param {{name: string}} graph */
export const graphName = (graph) => harmless(nameOf(graph.name));

/** @param {number} count @param {string} noun */
export const counted = (count, noun) => `${numbers.format(count)} ${noun}${count === 1 ? "" : "s"}`;

/** @param {string[]} names */
function listed(names) {
  const shown = names.slice(0, namesMax);
  if (names.length > namesMax) shown.push(`${names.length - namesMax} more`);
  return shown.length > 1 ? `${shown.slice(0, -1).join(", ")} and ${shown[shown.length - 1]}` : (shown[0] ?? "nobody");
}

/** @param {import("page/apply").View} view */
export function summaryOf(view) {
  const graphs = Object.entries(view.graphs);
  const creatures = Object.values(view.creatures);
  const parts = graphs.slice(0, namesMax).map(([id, graph]) => `${graphName(graph)}: ${listed(creatures.filter((creature) => creature.graph === id).map(titleOf))}`);
  return `${counted(graphs.length, "graph")}, ${counted(creatures.length, "creature")}, ${counted(Object.keys(view.channels).length, "channel")}. ${parts.join(". ")}.`;
}
