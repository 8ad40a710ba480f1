// @ts-check
/** Where the page begins. */
import { effect } from "@preact/signals";
import { html, render } from "page/html";
import { App } from "page/app";
import { address, isStill, setAddress } from "page/address";
import * as store from "page/store";
import { Refusal } from "page/source";

const root = /** @type {HTMLElement} */ (document.getElementById("app"));

/** Exchange the token of a link for a cookie, and clear it from the address. */
async function enter() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!token) return;
  history.replaceState(null, "", location.pathname + location.search);
  await store.source().post("session", { token });
}

async function begin() {
  try {
    await enter();
    const me = await store.source().me();
    store.session.value = { ...store.session.value, role: me.role, isGuest: me.is_guest, holder: me.holder ?? "" };
    const { run, at, panel } = address();
    const newest = run ?? (await store.source().runs({ limit: 1 }))[0]?.id;
    if (newest) void store.open(newest, { at, panel });
    else if (me.role === "director") store.openDialog("start");
    effect(() => setAddress({ panel: store.panel.value }));
  } catch (wrong) {
    const status = wrong instanceof Refusal ? wrong.status : 0;
    store.trouble.value = { status, message: wrong instanceof Error ? wrong.message : String(wrong) };
  }
}

// Before anything is drawn: panels add what tests read of them.
if (isStill) Object.assign(globalThis, { glasshouse: { store } });
root.replaceChildren();
render(html`<${App} />`, root);
addEventListener("popstate", () => {
  const { run, at, panel = "" } = address();
  store.panel.value = panel;
  if (run && run !== store.session.value.run) void store.open(run, { at, panel });
  else if (at && at !== store.view()?.event_id) void store.seekEvent(at);
  else if (run && !at) store.goLive();
});
void begin();
