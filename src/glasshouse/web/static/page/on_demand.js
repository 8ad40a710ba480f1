// @ts-check
/** Parts of the page that come when they are first shown: a first visit is not made to wait for what it may never see (ADR 0131). */
import { signal } from "@preact/signals";
import { html, useEffect } from "page/html";
import { styled } from "page/sheets";
import { Button } from "page/ui";

/** @typedef {"script"|"table"|"teams"|"compare"|"why"|"curtain"|"details"|"dialog"|"empty"|"studio"|"coach"|"withheld"} PartName */

/* The modules of a part are asked for all at once: a browser would find out about each only when it has read the one that imports it. */
const script = () => Promise.all([import("page/script/panel"), import("page/script/list"), import("page/script/layout"), import("page/script/items"), import("page/script/row"), import("page/script/fold"), import("page/script/marks")]);
const compare = () => Promise.all([import("page/compare/panel"), import("page/compare/side"), import("page/compare/align")]);

const studio = () => Promise.all([import("page/studio/panel"), import("page/studio/editor"), import("page/studio/rehearsal"), import("page/studio/prompt"), import("page/studio/texts")]);

/** The style sheets of each part. @type {{[name in PartName]?: string[]}} */
const sheets = {
  script: ["script/script"],
  table: ["table/table"],
  teams: ["teams/teams"],
  compare: ["compare/compare"],
  why: ["why/why"],
  curtain: ["curtain/curtain"],
  empty: ["empty/empty", "dialogs/start"],
  studio: ["studio/studio"],
  coach: ["coach/coach"],
  dialog: ["dialogs/archive", "dialogs/show", "dialogs/start", "palette/palette"],
};

/** @type {{[name in PartName]: () => Promise<any>}} */
const sources = {
  script: () => script().then(([{ Script }]) => Script),
  table: () => import("page/table/panel").then(({ Table }) => Table),
  teams: () => import("page/teams/panel").then(({ Teams }) => Teams),
  compare: () => compare().then(([{ Compare }]) => Compare),
  why: () => import("page/why/panel").then(({ Why }) => Why),
  curtain: () => import("page/curtain/panel").then(({ Curtain }) => Curtain),
  details: () => import("page/feed/details").then(({ Details }) => Details),
  empty: () => import("page/empty/panel").then(({ EmptyPage }) => EmptyPage),
  studio: () => studio().then(([{ Studio }]) => Studio),
  withheld: () => import("page/stage/withheld").then(({ WithheldTools }) => WithheldTools),
  coach: () => import("page/coach/marks").then(({ CoachMarks }) => CoachMarks),
  dialog: () => import("page/dialogs/all").then(({ AnyDialog }) => AnyDialog),
};

/** The components that are here; "lost" where the server did not answer. @type {import("@preact/signals").Signal<{[name: string]: any}>} */
const parts = signal({});
/** @type {Set<string>} */
const underWay = new Set();

/** Have a part loaded, once. What has no modules of its own is here already. @param {string} name */
export async function load(name) {
  const source = sources[/** @type {PartName} */ (name)];
  const isHere = parts.value[name] && parts.value[name] !== "lost";
  if (!source || underWay.has(name) || isHere) return;
  underWay.add(name);
  try {
    const [component] = await Promise.all([source(), ...(sheets[/** @type {PartName} */ (name)] ?? []).map(styled)]);
    parts.value = { ...parts.value, [name]: component };
  } catch {
    parts.value = { ...parts.value, [name]: "lost" };
  } finally {
    underWay.delete(name);
  }
}

/** A part, as soon as it is here. @param {{name: PartName, given?: object, meanwhile?: any}} props what it is given, and what stands in its place until then */
export function Part({ name, given = {}, meanwhile = null }) {
  const component = parts.value[name];
  useEffect(() => void load(name), [name]);
  if (component && component !== "lost") return html`<${component} ...${given} />`;
  if (component !== "lost") return meanwhile;
  return html`${meanwhile}<div class="empty"><p>This part of the page could not be loaded.</p><${Button} label="Try again" onClick=${() => void load(name)} /></div>`;
}
