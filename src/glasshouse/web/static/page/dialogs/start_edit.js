// @ts-check
/**
 * What a director may edit of a world before its start: who plays, who they are, when they act, what plays them, and who judges.
 *
 * Always holds: the server checks every edit, in the words of `glasshouse check`, and each refusal stands beside its field.
 */
import { html, useEffect, useState } from "page/html";
import { Face } from "page/face";
import { icon } from "page/icons";
import { source } from "page/store";
import { toast } from "page/toast";
import { Button, Field } from "page/ui";

/**
 * @typedef {{handle: string, persona: string, wants: string, tick_every: number|null, together: boolean, model_profile: string}} Seat
 * @typedef {{name: string, cast: Seat[], judge: string, referee: string, may_save: boolean}} Sheet
 * @typedef {{persona?: string, wants?: string, schedule?: {tick_every: number|null, together: boolean}, model_profile?: string}} Changes
 * @typedef {{off: string[], creatures: {[handle: string]: Changes}, judge?: string}} Edits
 * @typedef {{handle: string, field: string, text: string}} Problem
 * @typedef {import("page/empty/worlds").World} World
 */

const checkMilliseconds = 350;
const textCharsMax = 16_384;
const nameCharsMax = 63;

/** @returns {Edits} */
export const noEdits = () => ({ off: [], creatures: {} });

/** Whether anything is changed. @param {Edits} edits */
export const isEdited = ({ off, creatures, judge }) => off.length > 0 || judge !== undefined || Object.keys(creatures).length > 0;

/** Edits with one field of a creature changed; a field that is as before is no change. @param {Edits} edits @param {Seat} seat @param {keyof Changes} field @param {any} value @returns {Edits} */
export function withChange(edits, seat, field, value) {
  const before = field === "schedule" ? { tick_every: seat.tick_every, together: seat.together } : seat[field];
  const { [field]: _, ...rest } = edits.creatures[seat.handle] ?? {};
  const changes = JSON.stringify(before) === JSON.stringify(value) ? rest : { ...rest, [field]: value };
  const { [seat.handle]: __, ...others } = edits.creatures;
  return { ...edits, creatures: Object.keys(changes).length ? { ...others, [seat.handle]: changes } : others };
}

/** What the server says against edits, a moment after they were made. @param {string|undefined} world @param {Edits} edits @returns {{problems: Problem[], isSound: boolean}} */
export function useProblems(world, edits) {
  const [answered, setAnswered] = useState({ to: "", problems: /** @type {Problem[]} */ ([]) });
  const asked = JSON.stringify([world, edits]);
  useEffect(() => {
    if (!world || !isEdited(edits)) {
      setAnswered({ to: asked, problems: [] });
      return undefined;
    }
    let isOld = false;
    const timer = setTimeout(async () => {
      const answer = await source().post(`worlds/${encodeURIComponent(world)}/check`, { edits }).catch((/** @type {Error} */ wrong) => ({ problems: [{ handle: "", field: "", text: wrong.message }] }));
      if (!isOld) setAnswered({ to: asked, problems: answer.problems });
    }, checkMilliseconds);
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [asked]);
  return { problems: answered.problems, isSound: answered.to === asked && !answered.problems.length };
}

/** The problems of a field, beside it. @param {{problems: Problem[], handle?: string, field: string}} props */
export function Wrong({ problems, handle = "", field }) {
  const mine = problems.filter((problem) => problem.handle === handle && problem.field === field);
  return html`${mine.map(({ text }) => html`<small class="is-wrong" role="alert">${text.charAt(0).toUpperCase() + text.slice(1)}</small>`)}`;
}

/**
 * @param {{world: World, edits: Edits, problems: Problem[], models: {[handle: string]: string}, sizes: {size: string, model: string|null}[],
 *   onChange: (edits: Edits) => void, onModel: (handle: string, model: string) => void, request: () => any, onSaved: (name: string) => void}} props
 */
export function Editor({ world, edits, problems, models, sizes, onChange, onModel, request, onSaved }) {
  const [isOpen, setOpen] = useState(false);
  const [sheet, setSheet] = useState(/** @type {Sheet|null} */ (null));
  const [problem, setProblem] = useState("");
  useEffect(() => {
    setSheet(null);
    if (!isOpen) return undefined;
    let isOld = false;
    source().sheet(world.name).then((/** @type {Sheet} */ read) => isOld || setSheet(read), (/** @type {Error} */ wrong) => isOld || setProblem(wrong.message));
    return () => {
      isOld = true;
    };
  }, [isOpen, world.name]);
  const count = Object.keys(edits.creatures).length + edits.off.length + Number(edits.judge !== undefined);
  const loose = problems.filter(({ handle, field }) => !field || (handle && !sheet?.cast.some((seat) => seat.handle === handle)));
  return html`<details class="more edit" onToggle=${(/** @type {any} */ event) => setOpen(event.currentTarget.open)}>
    <summary>Edit the cast before the start${count ? html` <span class="chip">${count} changed</span>` : null}</summary>
    ${problem ? html`<p class="start-problem" role="alert">${icon("error")}<span>${problem}</span></p>` : null}
    ${isOpen && sheet ? html`
      <ul class="seats">${sheet.cast.map((seat) => html`<${SeatRow} key=${seat.handle} seat=${seat} member=${world.cast.find(({ handle }) => handle === seat.handle)} edits=${edits} problems=${problems} model=${models[seat.handle] ?? ""} sizes=${sizes} onChange=${onChange} onModel=${onModel} />`)}</ul>
      <${Wrong} problems=${problems} field="cast" />
      <div class="start-row two">
        <${Field} label="Who judges"><select value=${edits.judge ?? sheet.judge} aria-invalid=${problems.some(({ field }) => field === "judge") ? "true" : undefined}
            onChange=${(/** @type {any} */ event) => onChange({ ...edits, judge: event.target.value === sheet.judge ? undefined : event.target.value })}>
            <option value="">Nobody</option>${sheet.cast.map(({ handle }) => html`<option value=${handle}>${titleOf(world, handle)}</option>`)}</select>
          <${Wrong} problems=${problems} field="judge" />
          ${sheet.referee ? html`<small>Code rules too: ${sheet.referee}</small>` : html`<small>Whoever judges changes duties with the judge there was.</small>`}<//>
        <div class="edit-undo"><${Button} label="Undo all" isDisabled=${!isEdited(edits)} onClick=${() => onChange(noEdits())} /></div>
      </div>
      ${loose.map(({ text }) => html`<p class="start-problem" role="alert">${icon("error")}<span>${text}</span></p>`)}
      ${sheet.may_save ? html`<${SaveAs} world=${world} isSound=${!problems.length} request=${request} onSaved=${onSaved} />` : null}` : null}
  </details>`;
}

/** @param {World} world @param {string} handle */
const titleOf = (world, handle) => world.cast.find((member) => member.handle === handle)?.title ?? handle;

/**
 * @param {{seat: Seat, member: import("page/empty/worlds").Member|undefined, edits: Edits, problems: Problem[], model: string, sizes: {size: string, model: string|null}[],
 *   onChange: (edits: Edits) => void, onModel: (handle: string, model: string) => void}} props
 */
function SeatRow({ seat, member, edits, problems, model, sizes, onChange, onModel }) {
  const [isOpen, setOpen] = useState(false);
  const { handle } = seat;
  const title = member?.title ?? handle;
  const isOff = edits.off.includes(handle);
  const changes = edits.creatures[handle] ?? {};
  const schedule = changes.schedule ?? { tick_every: seat.tick_every, together: seat.together };
  const wrong = problems.filter((problem) => problem.handle === handle);
  const isWrong = (/** @type {string} */ field) => (wrong.some((problem) => problem.field === field) ? "true" : undefined);
  /** @param {keyof Changes} field @param {any} value */
  const change = (field, value) => onChange(withChange(edits, seat, field, value));
  const everyOf = (/** @type {string} */ text) => (text.trim() === "" ? null : Math.trunc(Number(text)) || 0);
  return html`<li class=${`seat${isOff ? " is-off" : ""}`}>
    <div class="seat-head">
      <label><input type="checkbox" checked=${!isOff} aria-label=${`${title} plays`} onChange=${() => onChange({ ...edits, off: isOff ? edits.off.filter((other) => other !== handle) : [...edits.off, handle] })} />
        <${Face} id=${handle} colour="var(--g0)" size=${22} isDim=${isOff} hasCrown=${member?.is_privileged} isJudge=${member?.role === "judge"} /><b>${title}</b></label>
      <small>${isOff ? "does not play" : member?.bio || member?.role}</small>
      ${Object.keys(changes).length ? html`<span class="chip">changed</span>` : null}${wrong.length && !isOpen ? html`<span class="is-wrong">${wrong[0].text}</span>` : null}
      <${Button} label="Edit" kind="quiet" title=${`Edit ${title}`} isPressed=${isOpen} isDisabled=${isOff} onClick=${() => setOpen(!isOpen)} />
    </div>
    ${isOpen && !isOff ? html`<div class="seat-fields">
      <${Field} label="Persona"><textarea rows="3" maxlength=${textCharsMax} dir="auto" value=${changes.persona ?? seat.persona} aria-invalid=${isWrong("persona")} onInput=${(/** @type {any} */ event) => change("persona", event.target.value)}></textarea><${Wrong} problems=${problems} handle=${handle} field="persona" /><//>
      <${Field} label="Wants"><textarea rows="2" maxlength=${textCharsMax} dir="auto" value=${changes.wants ?? seat.wants} aria-invalid=${isWrong("wants")} onInput=${(/** @type {any} */ event) => change("wants", event.target.value)}></textarea><${Wrong} problems=${problems} handle=${handle} field="wants" /><//>
      <div class="start-row three">
        <${Field} label="Acts every … turns" hint="Empty: only when something is said to it"><input type="text" inputmode="numeric" autocomplete="off" value=${schedule.tick_every ?? ""} placeholder="never by itself" aria-invalid=${isWrong("schedule")} onInput=${(/** @type {any} */ event) => change("schedule", { ...schedule, tick_every: everyOf(event.target.value) })} /><${Wrong} problems=${problems} handle=${handle} field="schedule" /><//>
        <${Field} label="Size of model"><select value=${changes.model_profile ?? seat.model_profile} onChange=${(/** @type {any} */ event) => change("model_profile", event.target.value)}>${sizes.map(({ size, model: name }) => html`<option value=${size}>${size}${name ? `: ${name}` : ""}</option>`)}</select><${Wrong} problems=${problems} handle=${handle} field="model_profile" /><//>
        <${Field} label="Model by name"><input list="start-names" autocomplete="off" spellcheck="false" placeholder="as its size says" value=${model} onInput=${(/** @type {any} */ event) => onModel(handle, event.target.value)} /><//>
      </div>
      <label class="switch"><input type="checkbox" checked=${schedule.together} disabled=${schedule.tick_every === null} onChange=${(/** @type {any} */ event) => change("schedule", { ...schedule, together: event.target.checked })} /><span>Thinks together with others of its turn</span></label>
      <${Wrong} problems=${problems} handle=${handle} field="" />
    </div>` : null}
  </li>`;
}

/** Keep the world as it is edited under a new name. @param {{world: World, isSound: boolean, request: () => any, onSaved: (name: string) => void}} props */
function SaveAs({ world, isSound, request, onSaved }) {
  const [name, setName] = useState("");
  const [problem, setProblem] = useState("");
  const [isSaving, setSaving] = useState(false);
  const save = async () => {
    setSaving(true);
    setProblem("");
    try {
      const { seed, limits, edits } = request();
      const title = name.split("-").map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(" ");
      const saved = await source().post("worlds", { name: name.trim(), title, world: world.name, seed, limits, ...(edits ? { edits } : {}) });
      toast([`Saved as ${saved.folder}.`, saved.note].filter(Boolean).join(" "));
      onSaved(saved.name);
    } catch (refused) {
      setProblem(refused instanceof Error ? refused.message : String(refused));
    }
    setSaving(false);
  };
  return html`<div class="save-as"><${Field} label="Save as world" hint="A new folder in ./worlds, with these edits, seed text and limits"><input type="text" autocomplete="off" spellcheck="false" maxlength=${nameCharsMax} placeholder="my-world" value=${name} aria-invalid=${problem ? "true" : undefined} onInput=${(/** @type {any} */ event) => (setProblem(""), setName(event.target.value))}
      onKeyDown=${(/** @type {KeyboardEvent} */ event) => event.key === "Enter" && (event.preventDefault(), name.trim() && void save())} />
    ${problem ? html`<small class="is-wrong" role="alert">${problem}</small>` : null}<//>
    <${Button} label="Save as world" isDisabled=${!name.trim() || isSaving || !isSound} onClick=${() => void save()} /></div>`;
}
