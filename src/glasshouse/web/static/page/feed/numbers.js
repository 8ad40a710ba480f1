// @ts-check
/** Numbers of events by their ids, as far as their records are here. */
import { recordsPerPage } from "page/source";
import { head, record, session } from "page/store";

/** @type {Map<number, {first: any, upto: number, numbers: Map<string, number>}>} */
let pages = new Map();
let run = "";

/** The number of an event whose record is loaded; 0 if none is. @param {string} id */
export function numberHere(id) {
  if (!/^s-[^ ]+\.\d+$/.test(id)) return 0;
  if (run !== session.value.run) {
    run = session.value.run;
    pages = new Map();
  }
  for (let page = Math.floor((head.value - 1) / recordsPerPage); page >= 0; page -= 1) {
    const k = numbersIn(page).get(id);
    if (k) return k;
  }
  return 0;
}

/** @param {number} page */
function numbersIn(page) {
  const start = page * recordsPerPage;
  let known = pages.get(page);
  if (!known || known.first !== record(start + 1)) {
    known = { first: record(start + 1), upto: start, numbers: new Map() };
    pages.set(page, known);
  }
  const end = Math.min(head.value, start + recordsPerPage);
  for (let k = known.upto + 1; k <= end; k += 1) {
    const entry = record(k);
    if (entry) known.numbers.set(entry.id, k);
  }
  known.upto = end;
  return known.numbers;
}
