// @ts-check
/** Dialogs that change the graph. Each tells by the server's own forecast what would come of it, and offers only what it accepts. */
import { html, useEffect, useState } from "page/html";
import { graphColour, graphInk } from "page/colours";
import { Face } from "page/face";
import { ForecastLine, useForecast } from "page/dialogs/forecast";
import { channelsOf, connection, creatureIn, make } from "page/graph/changes";
import { graphName, titleOf } from "page/graph/summary";
import { harmless } from "page/plain";
import { closeDialog, selection, session, source, view } from "page/store";
import { Button, Dialog, Field } from "page/ui";

/** @typedef {import("page/apply").View} View */

const handleChars = 64;

/** Creatures by graph, as options. @param {{view: View, except?: string, graph?: string, withChannels?: boolean, prefix?: string}} props */
function Options({ view: now, except, graph: only, withChannels = false, prefix = "" }) {
  return Object.entries(now.graphs).filter(([id]) => !only || id === only).map(([id, graph]) => html`<optgroup label=${`${prefix}${graphName(graph)}`}>
    ${Object.entries(now.creatures).filter(([one, creature]) => creature.graph === id && one !== except).map(([one, creature]) => html`<option value=${one}>${titleOf(creature)}</option>`)}
    ${withChannels ? Object.entries(now.channels).filter(([, channel]) => channel.graph === id).map(([one, channel]) => html`<option value=${`channel ${one}`}>#${harmless(channel.name)}</option>`) : null}
  </optgroup>`);
}

const kinds = {
  connect: { title: "Connect", verb: "Connect", to: "To" },
  wire: { title: "Wire an output", verb: "Wire", to: "Hand every line to" },
  parent: { title: "Set a parent", verb: "Set parent", to: "Parent" },
};

/** @param {{from?: string, to?: string, kind?: keyof typeof kinds}} props */
export function Connect({ from: first, to: target = "", kind: firstKind = "connect" }) {
  const now = view();
  const [kind, setKind] = useState(/** @type {keyof typeof kinds} */ (firstKind));
  const [from, setFrom] = useState(first ?? creatureIn(selection.value) ?? Object.keys(now?.creatures ?? {})[0] ?? "");
  const [to, setTo] = useState(target);
  const [isOneWay, setOneWay] = useState(false);
  const [other, setOther] = useState(/** @type {View|null} */ (null));
  const change = changeOf(kind, from, to, isOneWay, now);
  const answer = useForecast(change);
  if (!now) return null;
  const words = kinds[kind];
  const send = async () => {
    if (!change || answer?.isRefused) return;
    if (await make(change)) closeDialog();
  };
  const forecast = answer && other ? { ...answer, text: withNames(answer.text, other) } : answer;
  const isWithin = kind !== "connect";
  const hint = { connect: isOneWay ? "The second hears the first." : "They hear each other.", wire: "A wire stays within one graph and never merges graphs.", parent: "Who is a creature's parent is part of its story; nobody hears more by it." }[kind];
  return html`<${Dialog} id="connect" title=${words.title} onSubmit=${send} footer=${html`<${Button} label="Cancel" onClick=${closeDialog} /><${Button} label=${words.verb} kind="primary" type="submit" onClick=${() => {}} isDisabled=${!change || answer?.isRefused} />`}>
    <div class="choices" role="radiogroup" aria-label="What kind">
      ${Object.entries({ connect: "Channel", wire: "Output wire", parent: "Parent" }).map(([name, label]) => html`<label class=${kind === name ? "is-on" : ""}><input type="radio" name="kind" checked=${kind === name} onChange=${() => setKind(/** @type {keyof typeof kinds} */ (name))} />${label}</label>`)}
    </div>
    <${Field} label="From"><select value=${from} onChange=${(/** @type {any} */ event) => setFrom(event.target.value)} data-first=${!from || undefined}><${Options} view=${now} /></select><//>
    <${Field} label=${words.to} hint=${hint}><select value=${to} onChange=${(/** @type {any} */ event) => setTo(event.target.value)} data-first=${Boolean(from) || undefined}>
      <option value="">${kind === "parent" ? "Nobody" : "Choose…"}</option>
      <${Options} view=${now} except=${from} graph=${isWithin ? now.creatures[from]?.graph : undefined} withChannels=${!isWithin} />
      ${other && !isWithin ? html`<${Options} view=${other} prefix=${`${Object.values(other.runs)[0]?.title ?? "Another run"}: `} />` : null}
    </select><//>
    ${kind === "connect" ? html`<${OtherRuns} onChoose=${setOther} />
      <label class="switch"><input type="checkbox" checked=${isOneWay} onChange=${(/** @type {any} */ event) => setOneWay(event.target.checked)} disabled=${to.startsWith("channel ")} /><span>One way only<small>The second hears the first, not the other way round</small></span></label>` : null}
    ${change ? html`<${ForecastLine} forecast=${forecast} words=${kind === "connect" ? "Opens a way within the graph" : "Graphs stay as they are"} />` : html`<p class="forecast is-open">${from ? "Choose whom." : "Nobody is there."}</p>`}
  <//>`;
}

/** @param {keyof typeof kinds} kind @param {string} from @param {string} to @param {boolean} isOneWay @param {View|null} now */
function changeOf(kind, from, to, isOneWay, now) {
  if (!from || !now) return undefined;
  if (kind === "parent") return (now.creatures[from]?.parent ?? "") === to ? undefined : { what: "set_parent", fields: { creature: from, target: to || null } };
  if (!to) return undefined;
  if (kind === "wire") return { what: "wire", fields: { creature: from, target: to } };
  if (to.startsWith("channel ")) return connection(from, { kind: "channel", id: to.slice("channel ".length) });
  return { what: "connect", fields: { creature: from, target: to, both: !isOneWay } };
}

/** The names of another run's graphs in place of their ids. @param {string} text @param {View} other */
const withNames = (text, other) => Object.entries(other.graphs).reduce((words, [id, graph]) => words.replaceAll(id, graphName(graph)), text);

/** Runs whose creatures can be reached too: two runs in one graph stay two runs with two purses. @param {{onChoose: (view: View|null) => void}} props */
function OtherRuns({ onChoose }) {
  const [runs, setRuns] = useState(/** @type {{id: string, title: string, state: string}[]} */ ([]));
  useEffect(() => {
    const here = view()?.runs ?? {};
    source().runs({ limit: 50 }).then((/** @type {any[]} */ some) => setRuns(some.filter(({ id }) => !here[id])), () => {});
  }, []);
  if (!runs.length) return null;
  return html`<${Field} label="Creatures of another run" hint="Two runs that share a graph stay two runs, each with its own limits."><select onChange=${async (/** @type {any} */ event) => onChoose(event.target.value ? await source().view(event.target.value).catch(() => null) : null)}>
    <option value="">None</option>${runs.map((run) => html`<option value=${run.id}>${harmless(run.title)} (${run.id.slice(0, 8)})</option>`)}
  </select><//>`;
}

/**
 * Disconnect or remove a creature, or close a channel.
 * @param {{creature?: string, channel?: string, choice?: string}} props
 */
export function Disconnect({ creature: firstCreature, channel, choice: firstChoice }) {
  const now = view();
  const [creature, setCreature] = useState(firstCreature ?? creatureIn(selection.value) ?? "");
  const closing = channel ?? (selection.value?.kind === "channel" && !firstCreature ? selection.value.id : "");
  const cuts = closing && now ? [{ id: "close", label: `Close #${harmless(now.channels[closing]?.name ?? "")}`, what: "remove_channel", fields: { graph: now.channels[closing]?.graph, channel: now.channels[closing]?.name } }] : cutsOf(creature);
  const [chosen, setChosen] = useState(firstChoice ?? "");
  const cut = cuts.find(({ id }) => id === chosen) ?? cuts[0];
  const forecast = useForecast(cut);
  if (!now) return null;
  const send = async () => {
    if (!cut || forecast?.isRefused) return;
    if (await make(cut)) closeDialog();
  };
  const name = now.creatures[creature] ? titleOf(now.creatures[creature]) : "";
  const title = closing ? "Close a channel" : name ? `Disconnect ${name}` : "Disconnect";
  return html`<${Dialog} id="disconnect" title=${title} onSubmit=${send} footer=${html`<${Button} label="Cancel" onClick=${closeDialog} /><${Button} label=${cut?.id === "remove" ? "Remove" : cut?.id === "close" ? "Close" : "Disconnect"} kind="danger" type="submit" onClick=${() => {}} isDisabled=${!cut || forecast?.isRefused} />`}>
    ${closing ? null : html`<${Field} label="Who"><select value=${creature} onChange=${(/** @type {any} */ event) => (setCreature(event.target.value), setChosen(""))}><option value="">Choose…</option><${Options} view=${now} /></select><//>`}
    ${cuts.length ? html`<div class="cuts" role="radiogroup" aria-label="What to cut">
      ${cuts.map(({ id, label }) => html`<label class=${id === cut?.id ? "is-on" : ""}><input type="radio" name="cut" checked=${id === cut?.id} onChange=${() => setChosen(id)} data-first=${id === cut?.id || undefined} /><span>${label}</span></label>`)}
    </div><${ForecastLine} forecast=${forecast} words=${cut?.id === "remove" ? "It leaves the play. What it said stays in the ledger." : "Graphs stay as they are"} />` : null}
  <//>`;
}

/** What can be cut from a creature. @param {string} id */
function cutsOf(id) {
  const now = view();
  const creature = now?.creatures[id];
  if (!now || !creature) return [];
  const channels = channelsOf(id).map(([one, channel]) => ({ id: one, label: `Leave #${harmless(channel.name)}`, what: "leave_channel", fields: { creature: id, channel: one } }));
  const wires = Object.entries(now.wires).filter(([, wire]) => wire.from === id || wire.to === id).map(([one, wire]) => ({
    id: one,
    label: wire.from === id ? `Take away the wire to ${titleOf(now.creatures[wire.to])}` : `Take away the wire from ${titleOf(now.creatures[wire.from])}`,
    what: "unwire",
    fields: { creature: wire.from, target: wire.to },
  }));
  return [...channels, ...wires, { id: "remove", label: `Remove ${titleOf(creature)} from the play`, what: "remove_creature", fields: { creature: id } }];
}

/** What a privileged creature has changed stays so if privilege is taken back, so it is asked for. @param {{creature: string}} props */
export function Grant({ creature }) {
  const change = { what: "grant_privilege", fields: { creature } };
  const forecast = useForecast(change);
  const entry = view()?.creatures[creature];
  if (!entry) return null;
  const send = async () => {
    if (!forecast?.isRefused && (await make(change))) closeDialog();
  };
  return html`<${Dialog} title=${`Let ${titleOf(entry)} change the graph?`} onSubmit=${send} footer=${html`<${Button} label="Cancel" onClick=${closeDialog} /><${Button} label="Grant privilege" kind="primary" type="submit" onClick=${() => {}} isDisabled=${forecast?.isRefused} />`}>
    <p>It may spawn, connect and remove others from then on, until you revoke it. What it has changed by then stays.</p>
    ${forecast?.isRefused ? html`<${ForecastLine} forecast=${forecast} />` : null}
  <//>`;
}

/** Open a channel, or give one another name. @param {{graph: string, channel?: string}} props */
export function ChannelName({ graph, channel }) {
  const entry = channel ? view()?.channels[channel] : undefined;
  const [name, setName] = useState(entry?.name ?? "");
  const change = !name || name === entry?.name ? undefined : entry ? { what: "rename_channel", fields: { graph, channel, target: name } } : { what: "add_channel", fields: { graph, channel: name } };
  const forecast = useForecast(change);
  const send = async () => {
    if (change && !forecast?.isRefused && (await make(change))) closeDialog();
  };
  return html`<${Dialog} title=${entry ? `Rename #${harmless(entry.name)}` : "Open a channel"} onSubmit=${send} footer=${html`<${Button} label="Cancel" onClick=${closeDialog} /><${Button} label=${entry ? "Rename" : "Open"} kind="primary" type="submit" onClick=${() => {}} isDisabled=${!change || forecast?.isRefused} />`}>
    <${Field} label="Name" hint=${entry ? "Everybody on it hears on." : `In ${graphName(view()?.graphs[graph] ?? { name: "" })}. Nobody is on it yet.`}><input type="text" value=${name} maxlength=${handleChars} data-first autocomplete="off" onInput=${(/** @type {any} */ event) => setName(event.target.value.trim())} /><//>
    ${forecast?.isRefused ? html`<${ForecastLine} forecast=${forecast} />` : null}
  <//>`;
}

/** @param {{graph?: string, channel?: string}} props */
export function Spawn({ graph: firstGraph, channel: firstChannel }) {
  const now = view();
  const home = firstGraph ?? graphSelected() ?? Object.keys(now?.graphs ?? {})[0] ?? "";
  const [choice, setChoice] = useState({ name: "", persona: "", bio: "", profile: "fast", role: "worker", graph: home, channel: firstChannel ?? busiest(home) });
  const [sizes, setSizes] = useState(/** @type {{size: string, model: string|null, problem: string|null}[]} */ ([]));
  useEffect(() => {
    source().models().then((/** @type {any} */ models) => setSizes(models.sizes), () => {});
  }, []);
  const change = choice.name ? { what: "add_creature", fields: spawnFields(choice) } : undefined;
  const forecast = useForecast(change);
  if (!now) return null;
  /** @param {string} name */
  const put = (name) => (/** @type {any} */ event) => setChoice((before) => ({ ...before, [name]: name === "name" ? asHandle(event.target.value) : event.target.value, ...(name === "graph" ? { channel: busiest(event.target.value) } : {}) }));
  const send = async () => {
    if (change && !forecast?.isRefused && (await make(change))) closeDialog();
  };
  const channels = Object.values(now.channels).filter(({ graph }) => graph === choice.graph);
  const graph = now.graphs[choice.graph];
  const words = !graph ? "Begins a graph of its own" : choice.channel || channels.length === 1 ? `Comes in to ${graphName(graph)} on #${harmless(choice.channel || channels[0].name)}` : `Comes in to ${graphName(graph)}, on a channel with its oldest member`;
  return html`<${Dialog} id="spawn" title="Spawn a creature" width=${600} onSubmit=${send} footer=${html`<${Button} label="Cancel" onClick=${closeDialog} /><${Button} label="Spawn" kind="primary" type="submit" onClick=${() => {}} isDisabled=${!change || forecast?.isRefused} />`}>
    <div class="spawn-name">
      <span class="spawn-face"><${Face} id=${choice.name || "?"} colour=${graph ? graphColour(graph.colour) : "var(--ink-3)"} size=${44} isDim=${!choice.name} isJudge=${choice.role === "judge"} /></span>
      <${Field} label="Handle" hint="Small letters, digits and dashes"><input type="text" value=${choice.name} maxlength=${handleChars} data-first autocomplete="off" spellcheck=${false} placeholder="night-heron" onInput=${put("name")} /><//>
      <${Field} label="Role"><select value=${choice.role} onChange=${put("role")}><option value="worker">Player</option><option value="judge">Judge</option><option value="narrator">Narrator</option></select><//>
    </div>
    <${Field} label="Persona" hint="Who it is; part of its prompt"><textarea rows="3" value=${choice.persona} placeholder="A heron who keeps the ferry's times and believes none of them." onInput=${put("persona")}></textarea><//>
    <${Field} label="Bio" hint="One sentence that everybody may read"><input class="serif" type="text" value=${choice.bio} onInput=${put("bio")} /><//>
    <div class="three-fields">
      <${Field} label="Model profile"><select value=${choice.profile} onChange=${put("profile")}>${(sizes.length ? sizes : [{ size: "fast", model: null, problem: null }]).map(({ size, model }) => html`<option value=${size}>${size}${model ? ` (${model})` : ""}</option>`)}</select><//>
      <${Field} label="Graph"><select value=${choice.graph} onChange=${put("graph")}>${Object.entries(now.graphs).map(([id, one]) => html`<option value=${id}>${graphName(one)}</option>`)}<option value="">A new graph</option></select><//>
      <${Field} label="Channel"><select value=${choice.channel} disabled=${!graph} onChange=${put("channel")}><option value="">${channels.length === 1 ? `#${harmless(channels[0].name)}` : "A new one"}</option>${channels.length > 1 ? channels.map(({ name }) => html`<option value=${name}>#${harmless(name)}</option>`) : null}</select><//>
    </div>
    ${change ? html`<${ForecastLine} forecast=${forecast} words=${words} />` : html`<p class="forecast is-open" style=${{ color: graph ? graphInk(graph.colour) : undefined }}>${words}</p>`}
  <//>`;
}

/** The channel of a graph that most are on; "" where there is no choice. @param {string} graph */
function busiest(graph) {
  const channels = Object.values(view()?.channels ?? {}).filter((channel) => channel.graph === graph);
  if (channels.length < 2) return "";
  return channels.reduce((best, channel) => (Object.keys(channel.edges).length > Object.keys(best.edges).length ? channel : best)).name;
}

/** What somebody types, as a handle. @param {string} text */
const asHandle = (text) => text.toLowerCase().replace(/[\s_]+/g, "-");

function graphSelected() {
  const [now, chosen] = [view(), selection.value];
  if (!now || !chosen) return undefined;
  if (chosen.kind === "graph") return now.graphs[chosen.id] ? chosen.id : undefined;
  return (chosen.kind === "creature" ? now.creatures : now.channels)[chosen.id]?.graph;
}

/** @param {{name: string, persona: string, bio: string, profile: string, role: string, graph: string, channel: string}} choice */
function spawnFields({ name, persona, bio, profile, role, graph, channel }) {
  const member = graph ? Object.values(view()?.creatures ?? {}).find((creature) => creature.graph === graph && creature.run) : undefined;
  const manifest = { name, role, model_profile: profile, ...(persona.trim() ? { persona: persona.trim() } : {}), ...(bio.trim() ? { bio: bio.trim() } : {}) };
  return { manifest, run: member?.run ?? session.value.run, ...(graph ? { graph } : {}), ...(channel ? { channel } : {}) };
}
