// @ts-check
/** What lies over the page: the dialog that is open, hints for newcomers, and short messages. */
import { html } from "page/html";
import { CoachMarks } from "page/coach/marks";
import { DropVeil } from "page/importing";
import { Part } from "page/on_demand";
import { Toasts } from "page/toasts";
import { dialog } from "page/store";

export function Overlays() {
  const open = dialog.value;
  return html`${open ? html`<${Part} key=${open.name} name="dialog" given=${{ name: open.name, args: open.args ?? {} }} />` : null}
    <${CoachMarks} /><${DropVeil} /><${Toasts} />`;
}
