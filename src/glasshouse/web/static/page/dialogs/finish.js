// @ts-check
/** Finish a run: asked before, since no run can be opened again. */
import { html, useState } from "page/html";
import { finish } from "page/commands";
import { closeDialog } from "page/store";
import { Button, Dialog } from "page/ui";

export function Finish() {
  const [isSending, setSending] = useState(false);
  const send = async () => {
    if (isSending) return;
    setSending(true);
    const done = await finish();
    setSending(false);
    if (done) closeDialog();
  };
  const footer = html`<span>It cannot be taken back.</span><${Button} label="Cancel" onClick=${closeDialog} />
    <${Button} label="Finish" icon="stop" kind="primary" kbd="Enter" type="submit" onClick=${() => {}} isDisabled=${isSending} />`;
  return html`<${Dialog} title="Finish this run?" width=${440} onSubmit=${send} footer=${footer}>
    <p>Acts that have begun end first. Then the run is over: it can be replayed, branched, and played on in a new run.</p>
  <//>`;
}
