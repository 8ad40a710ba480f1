// @ts-check
/** What lies over the page: the dialog that is open, hints for newcomers, and short messages. */
import { html, useEffect } from "page/html";
import { DropVeil } from "page/importing";
import { Part } from "page/on_demand";
import { Toasts } from "page/toasts";
import { dialog } from "page/store";
import { areHintsDue, waitForHints } from "page/coach/waiting";

export function Overlays() {
  useEffect(waitForHints, []);
  const open = dialog.value;
  return html`${open ? html`<${Part} key=${open.name} name="dialog" given=${{ name: open.name, args: open.args ?? {} }} />` : null}
    ${areHintsDue.value ? html`<${Part} name="coach" />` : null}<${DropVeil} /><${Toasts} />`;
}
