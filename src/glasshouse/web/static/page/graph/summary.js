// @ts-check
/** The graph in words, for who does not see it. */
import { nameOf } from "page/apply";

const namesMax = 12;

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
  const parts = graphs.slice(0, namesMax).map(([id, graph]) => `${graph.name}: ${listed(creatures.filter((creature) => creature.graph === id).map(({ handle }) => nameOf(handle)))}`);
  return `${counted(graphs.length, "graph")}, ${counted(creatures.length, "creature")}, ${counted(Object.keys(view.channels).length, "channel")}. ${parts.join(". ")}.`;
}
