// @ts-check
/** What lies over the page: the dialog that is open, and short messages. */
import { html } from "page/html";
import { DropVeil } from "page/importing";
import { later } from "page/later";
import { Toasts } from "page/toasts";
import { dialog } from "page/store";

const Shown = later(async () => {
  const { dialogs } = await import("page/dialogs/all");
  return (/** @type {{name: string, args: any}} */ { name, args }) => html`<${dialogs[name]} ...${args} />`;
});

export function Overlays() {
  const open = dialog.value;
  return html`${open ? html`<${Shown} key=${open.name} name=${open.name} args=${open.args ?? {}} />` : null}
    <${DropVeil} /><${Toasts} />`;
}
