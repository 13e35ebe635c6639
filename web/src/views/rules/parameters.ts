// The parameters of a rule as a form: what each can be turned to, and how far a slider goes.

export interface KindParameter {
  name: string;
  default: string;
  description: string;
}

/** GET /rules: one kind. */
export interface KindAnswer {
  rule: string;
  summary: string;
  topic: string;
  details: string;
  source: string;
  parameters: KindParameter[];
}

export type Knob =
  | { kind: 'number'; lowest: number; highest: number; step: number; logarithmic: boolean; whole: boolean }
  | { kind: 'switch' }
  | { kind: 'text' };

const DECADES = 3; // up and down from where it is

/** A switch for True and False; a slider around a number; anything else is typed. */
export function knobOf(value: string): Knob {
  if (/^(true|false)$/i.test(value)) return { kind: 'switch' };
  const number = Number(value);
  if (value.trim() === '' || !Number.isFinite(number)) return { kind: 'text' };
  const whole = /^-?\d+$/.test(value.trim());
  if (number > 0 && whole) return { kind: 'number', lowest: 0, highest: Math.max(10, number * 5), step: 1, logarithmic: false, whole };
  if (number > 0) return { kind: 'number', lowest: -DECADES, highest: DECADES, step: 0.05, logarithmic: true, whole };
  if (number === 0) return { kind: 'number', lowest: 0, highest: 1, step: 0.01, logarithmic: false, whole: false };
  const reach = Math.max(1, Math.abs(number) * 2);
  return { kind: 'number', lowest: -reach, highest: reach, step: whole ? 1 : reach / 100, logarithmic: false, whole };
}

/** The text of a place on the slider of a parameter that is `base` now. */
export function valueAt(knob: Knob, base: string, place: number): string {
  if (knob.kind !== 'number') return base;
  if (place === 0 && knob.logarithmic) return base;
  if (knob.logarithmic) return String(Number((Number(base) * 10 ** place).toPrecision(3)));
  return knob.whole ? String(Math.round(place)) : String(Number(place.toPrecision(4)));
}

/** The place of a text on the slider, clamped to its ends; the middle when it is no number. */
export function placeOf(knob: Knob, base: string, value: string): number {
  if (knob.kind !== 'number') return 0;
  const number = Number(value);
  const place = knob.logarithmic ? Math.log10(number / Number(base)) : number;
  if (!Number.isFinite(place)) return knob.logarithmic ? (number === 0 ? knob.lowest : 0) : Number(base);
  return Math.min(knob.highest, Math.max(knob.lowest, place));
}

const PREFIX = 'if.';

/** The steps that a rule judges: every rule that comes with the program takes these. */
const OF_ALL_RULES = ['start_step', 'end_step'];

/** Of these the ones that the rule has. A run and a link are written by others: nothing else of theirs is sent. */
export function declaredOf(kind: KindAnswer, parameters: Readonly<Record<string, string>>): Record<string, string> {
  const names = new Set([...kind.parameters.map((parameter) => parameter.name), ...OF_ALL_RULES]);
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => names.has(name)));
}

/** The changed parameters that a link holds: "if.threshold=1e-5". */
export function changesIn(params: Readonly<Record<string, string>>): Record<string, string> {
  const changes: Record<string, string> = {};
  for (const [name, value] of Object.entries(params)) {
    if (name.startsWith(PREFIX)) changes[name.slice(PREFIX.length)] = value;
  }
  return changes;
}

export function wordOf(parameter: string): string {
  return PREFIX + parameter;
}

/** Removes all changes from a link. */
export function noChanges(params: Readonly<Record<string, string>>): Record<string, undefined> {
  return Object.fromEntries(Object.keys(changesIn(params)).map((name) => [wordOf(name), undefined]));
}
