// @ts-check
/** What lies over the page: the dialog that is open, hints for newcomers, and short messages. */
import { html } from "page/html";
import { CoachMarks } from "page/coach/marks";
import { dialogs } from "page/dialogs/all";
import { Toasts } from "page/toasts";
import { dialog } from "page/store";

export function Overlays() {
  const open = dialog.value;
  const Shown = open ? dialogs[open.name] : undefined;
  return html`${Shown ? html`<${Shown} key=${open?.name} ...${open?.args ?? {}} />` : null}
    <${CoachMarks} />
    <${Toasts} />`;
}
