// @ts-check
/** How the graph can be changed: who may, what menus offer, and which request a drawn line means. */
import { creatureCalled } from "page/apply";
import { edit } from "page/commands";
import { graphName, titleOf } from "page/graph/summary";
import { harmless } from "page/plain";
import { canDisturb, canReadMinds, flip, isDirector, isImported, isRewound, openDialog, panel, record, setFilters, view } from "page/store";
import { tab } from "page/sides";
import { toast } from "page/toast";

/** @typedef {{label: string, icon?: string, kbd?: string, isDanger?: boolean, run: () => void}} Item */
/** @typedef {{what: string, fields: any}} Change */

/** Whether the graph can be changed now: the past cannot, nor what came in a file. */
export const canEdit = () => isDirector.value && !isRewound.value && !isImported.value;

/** The channels that a creature is on. @param {string} id */
export const channelsOf = (id) => Object.entries(view()?.channels ?? {}).filter(([, { edges }]) => edges[id]);

/** Change the graph, and say so: the picture follows when the events come. @param {Change} change @param {string} [done] */
export async function make({ what, fields }, done) {
  const answer = await edit(what, fields);
  if (answer && done) toast(done);
  return answer !== undefined;
}

/**
 * What a line from a creature to a creature or a channel asks for. Undefined if there is nothing to ask.
 * @param {string} from
 * @param {{kind: "creature"|"channel", id: string}} to
 * @returns {Change|undefined}
 */
export function connection(from, to) {
  const now = view();
  if (!now || from === to.id) return undefined;
  if (to.kind === "creature") return { what: "connect", fields: { creature: from, target: to.id, both: true } };
  const channel = now.channels[to.id];
  if (!channel || channel.edges[from] === 3) return undefined;
  if (channel.graph === now.creatures[from]?.graph) return { what: "join_channel", fields: { creature: from, channel: to.id } };
  // A channel of another graph is joined by way of somebody who is on it.
  const [member, edge] = Object.entries(channel.edges).sort((a, b) => b[1] - a[1])[0] ?? [];
  if (!member) return undefined;
  const isListener = edge === 1;
  return { what: "connect", fields: { creature: edge === 2 ? member : from, target: edge === 2 ? from : member, channel: to.id, both: !isListener && edge === 3 } };
}

/** Filter the events, and show them where they have a tab of their own. @param {Parameters<typeof setFilters>[0]} parts */
function showOnly(parts) {
  setFilters(parts);
  tab.value = "feed";
}

/** What a menu on a creature offers. @param {string} id @returns {Item[]} */
export function creatureItems(id) {
  const creature = view()?.creatures[id];
  if (!creature) return [];
  const name = titleOf(creature);
  const line = creature.line ? record(creature.line.n) : undefined;
  /** @type {(Item|false|undefined)[]} */
  const items = [
    canReadMinds() && { label: "Read mind", icon: "eye", run: () => flip(id) },
    line && { label: "Why was this said?", icon: "question", run: () => (panel.value = `why:${line.id}`) },
    { label: `Only events of ${name}`, icon: "filter", run: () => showOnly({ creature: id }) },
  ];
  if (canEdit()) {
    items.push(
      { label: "Connect to…", icon: "link", kbd: "C", run: () => openDialog("connect", { from: id }) },
      { label: "Disconnect…", icon: "split", kbd: "X", run: () => openDialog("disconnect", { creature: id }) },
      { label: "Wire output to…", icon: "wire", run: () => openDialog("connect", { from: id, kind: "wire" }) },
      { label: "Set parent…", icon: "merge", run: () => openDialog("connect", { from: id, kind: "parent" }) },
      creature.is_running
        ? { label: "Stop", icon: "pause", run: () => void make({ what: "stop_creature", fields: { creature: id } }, `${name} is stopped. Its mail waits.`) }
        : { label: "Start", icon: "play", run: () => void make({ what: "start_creature", fields: { creature: id } }, `${name} is started.`) },
      creature.is_privileged
        ? { label: "Revoke privilege", icon: "crown", run: () => void make({ what: "revoke_privilege", fields: { creature: id } }, `${name} may no longer change the graph.`) }
        : { label: "Grant privilege…", icon: "crown", run: () => openDialog("grant", { creature: id }) },
      { label: "Remove…", icon: "trash", isDanger: true, run: () => openDialog("disconnect", { creature: id, choice: "remove" }) },
    );
  }
  return items.filter((item) => item !== false && item !== undefined);
}

/** What a menu on a channel offers. @param {string} id @returns {Item[]} */
export function channelItems(id) {
  const channel = view()?.channels[id];
  if (!channel) return [];
  /** @type {Item[]} */
  const items = [{ label: `Only events on #${harmless(channel.name)}`, icon: "filter", run: () => showOnly({ channel: channel.name }) }];
  if (canEdit()) {
    items.push(
      { label: "Spawn here…", icon: "plus", kbd: "N", run: () => openDialog("spawn", { graph: channel.graph, channel: channel.name }) },
      { label: "Rename…", icon: "channel", run: () => openDialog("channel", { graph: channel.graph, channel: id }) },
      { label: "Close channel…", icon: "trash", isDanger: true, run: () => openDialog("disconnect", { channel: id }) },
    );
  }
  return items;
}

/** What a menu on a graph, or on the ground, offers. @param {string|undefined} id @param {() => void} fit @returns {Item[]} */
export function graphItems(id, fit) {
  const now = view();
  const graph = id === undefined ? undefined : now?.graphs[id];
  /** @type {Item[]} */
  const items = [{ label: "Fit", icon: "fit", kbd: "0", run: fit }];
  if (graph && now) items.unshift({ label: `Only events of ${graphName(graph)}`, icon: "filter", run: () => showOnly({ graph: id }) });
  if (canEdit()) {
    items.unshift({ label: "Spawn here…", icon: "plus", kbd: "N", run: () => openDialog("spawn", graph ? { graph: id } : { graph: "" }) });
    if (graph) items.splice(1, 0, { label: "Open channel…", icon: "channel", run: () => openDialog("channel", { graph: id }) });
    if (graph && canDisturb.value) items.splice(2, 0, { label: "Disturb it…", icon: "bolt", kbd: "I", run: () => openDialog("disturb", { graph: id }) });
  }
  return items;
}

/** The creature that somebody means: the one selected. @param {{kind: string, id: string}|null} chosen */
export function creatureIn(chosen) {
  const now = view();
  if (!now || chosen?.kind !== "creature") return undefined;
  return now.creatures[chosen.id] ? chosen.id : creatureCalled(now, chosen.id)?.[0];
}
