// @ts-check
/** Where the page begins. */
import { effect } from "@preact/signals";
import { html, render } from "page/html";
import { App } from "page/app";
import { address, isStill, setAddress } from "page/address";
import { showLaterFonts } from "page/later_fonts";
import * as store from "page/store";
import { Refusal } from "page/source";

const root = /** @type {HTMLElement} */ (document.getElementById("app"));

const hasToken = () => new URLSearchParams(location.hash.slice(1)).has("token");

/** The token of a link, which is cleared from the address. */
function tokenInAddress() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? "";
  if (token) history.replaceState(null, "", location.pathname + location.search);
  return token;
}

let endsKeepingPanel = () => {};

/** @param {string} token */
async function begin(token) {
  const source = store.source();
  try {
    const { run, at, panel } = address();
    // All at once, each a way to the server and back: with a token, while it is exchanged for a cookie.
    const [me, newest] = await Promise.all([
      source.me(token),
      run ?? source.runs({ limit: 1 }, token).then((/** @type {any[]} */ runs) => runs[0]?.id),
      token ? source.post("session", { token }) : null,
    ]);
    store.trouble.value = null;
    store.session.value = { ...store.session.value, role: me.role, isGuest: me.is_guest, holder: me.holder ?? "" };
    store.isEmpty.value = !newest;
    if (newest) void store.open(newest, { at, panel });
    else store.panel.value = panel ?? "";
    endsKeepingPanel();
    endsKeepingPanel = effect(() => setAddress({ panel: store.panel.value }));
  } catch (wrong) {
    const status = wrong instanceof Refusal ? wrong.status : 0;
    store.trouble.value = { status, message: wrong instanceof Error ? wrong.message : String(wrong) };
  }
}

// What the first picture does not need comes when it is painted.
effect(() => {
  if (store.head.value || store.dialog.value || store.trouble.value) requestAnimationFrame(() => setTimeout(showLaterFonts));
});
// Before anything is drawn: panels add what tests read of them.
if (isStill) Object.assign(globalThis, { glasshouse: { store } });
root.replaceChildren();
render(html`<${App} />`, root);
addEventListener("popstate", () => {
  if (hasToken()) return; // A link was pasted: what it opens is told below.
  const { run, at, panel = "" } = address();
  store.panel.value = panel;
  if (run && run !== store.session.value.run) void store.open(run, { at, panel });
  else if (at && at !== store.view()?.event_id) void store.seekEvent(at);
  else if (run && !at) store.goLive();
});
// A link that is pasted into this tab changes the fragment alone, so the browser does not load the page again.
addEventListener("hashchange", () => {
  const token = tokenInAddress();
  if (token) void begin(token);
});
void begin(tokenInAddress());
