// @ts-check
/** The graph in words, for who does not see it. */
import { nameOf } from "page/apply";
import { harmless } from "page/plain";

const namesMax = 12;

/** A creature's name as it is shown. @param {import("page/apply").Creature} creature */
export const titleOf = (creature) => harmless(creature.title || nameOf(creature.handle));

/** A graph is called like the creature it began with, unless somebody named it. @param {{name: string}} graph @param {import("page/apply").View} view */
export const graphName = (graph, view) => harmless(nameOf(graph.name, view));

/** @param {number} count @param {string} noun */
export const counted = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

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
  const parts = graphs.slice(0, namesMax).map(([id, graph]) => `${graphName(graph, view)}: ${listed(creatures.filter((creature) => creature.graph === id).map(titleOf))}`);
  return `${counted(graphs.length, "graph")}, ${counted(creatures.length, "creature")}, ${counted(Object.keys(view.channels).length, "channel")}. ${parts.join(". ")}.`;
}
