// What if the rule had other parameters: a form, and both answers over the recorded steps.
import type { VerdictAnswer } from '../../data/firings';
import { SourceError, type Source } from '../../data/source';
import { h, replace } from '../../draw/dom';
import { count } from '../../draw/numbers';
import { knobOf, placeOf, valueAt, type KindAnswer, type KindParameter } from './parameters';
import { strip, type Mark, type StripRange } from './strip';
import { stateSign } from '../rule_states';
import { stepsInWords } from './words';

export interface JudgedAnswer {
  parameters: Record<string, string>;
  state: string;
  details: string;
  steps: Record<string, number>;
  fired: number;
  fired_steps: number[];
  noted: number;
  noted_steps: number[];
  first: VerdictAnswer | null;
}

/** POST /runs/{run}/rules/what-if. */
export interface WhatIfAnswer {
  rule: string;
  steps: number;
  judged_steps: number;
  first_step: number;
  last_step: number;
  cut: 'no' | 'steps' | 'time';
  now: JudgedAnswer;
  changed: JudgedAnswer;
}

export interface WhatIfQuestion {
  rule: string;
  now: Record<string, string>;
  parameters: Record<string, string>;
}

/** One question at a time; of those that come meanwhile the newest. A server that is busy is asked again. */
export class WhatIfAsker {
  private running = false;
  private next: WhatIfQuestion | null = null;
  private gone = false;

  constructor(
    private readonly source: Source,
    private readonly run: string,
    private readonly answered: (question: WhatIfQuestion, answer: WhatIfAnswer | SourceError) => void,
    private readonly pause: (milliseconds: number) => Promise<void> = (ms) => new Promise((done) => setTimeout(done, ms)),
  ) {}

  ask(question: WhatIfQuestion): void {
    this.next = question;
    if (!this.running) void this.work();
  }

  destroy(): void {
    this.gone = true;
    this.next = null;
  }

  private async work(): Promise<void> {
    this.running = true;
    while (this.next && !this.gone) {
      const question = this.next;
      this.next = null;
      const answer = await this.patientAnswer(question);
      if (!this.gone && this.next === null) this.answered(question, answer);
    }
    this.running = false;
  }

  private async patientAnswer(question: WhatIfQuestion): Promise<WhatIfAnswer | SourceError> {
    for (let attempt = 0; ; ++attempt) {
      try {
        return await this.source.post<WhatIfAnswer>(`/runs/${this.run}/rules/what-if`, question);
      } catch (error) {
        if (!(error instanceof SourceError)) throw error;
        if (error.code !== 'unavailable' || attempt === 5 || this.gone) return error;
        await this.pause(500 * (attempt + 1));
      }
    }
  }
}

/** A label, a field and, where it is a number, a slider. `turned` gets the text, undefined for what it is now. */
export function parameterRow(
  parameter: KindParameter,
  base: string,
  value: string,
  turned: (text: string | undefined) => void,
): HTMLElement {
  const knob = knobOf(base);
  const id = `what-if-${parameter.name}`;
  const report = (text: string) => turned(text === base ? undefined : text);
  const field =
    knob.kind === 'switch'
      ? h('input', { id, type: 'checkbox', checked: /^true$/i.test(value), onchange: (event: Event) => report((event.target as HTMLInputElement).checked ? 'True' : 'False') })
      : h('input', { id, type: 'text', inputmode: knob.kind === 'number' ? 'decimal' : undefined, value, placeholder: 'not set', onchange: (event: Event) => report((event.target as HTMLInputElement).value.trim()) });
  const slider =
    knob.kind === 'number' &&
    h('input', {
      type: 'range', min: knob.lowest, max: knob.highest, step: knob.step, value: placeOf(knob, base, value),
      'aria-label': `${parameter.name}, slider`, 'aria-valuetext': value,
      oninput: (event: Event) => {
        const text = valueAt(knob, base, Number((event.target as HTMLInputElement).value));
        (field as HTMLInputElement).value = text;
        (event.target as HTMLInputElement).setAttribute('aria-valuetext', text);
      },
      onchange: (event: Event) => report(valueAt(knob, base, Number((event.target as HTMLInputElement).value))),
    });
  return h(
    'div',
    { class: 'what-if-row', 'data-parameter': parameter.name },
    h('label', { for: id }, h('code', {}, parameter.name)),
    field,
    slider || h('span', {}),
    h('span', { class: 'muted' }, `${parameter.description}${value === base ? '' : ` (now ${base === '' ? 'not set' : base})`}`),
  );
}

function marksOf(judged: JudgedAnswer): Mark[] {
  const marks = (steps: number[], severity: string) => steps.map((step) => ({ step, lastStep: step, severity }));
  return [...marks(judged.noted_steps, 'info'), ...marks(judged.fired_steps, judged.first?.severity ?? 'warning')];
}

function inWords(judged: JudgedAnswer): string {
  if (judged.state === 'Error') return `the rule fails: ${judged.details}`;
  if (judged.fired > 0) return `fires ${stepsInWords(judged.fired_steps, judged.fired)}`;
  if (judged.noted > 0) return `only notes, ${stepsInWords(judged.noted_steps, judged.noted)}`;
  const judgedSteps = (judged.steps['ok'] ?? 0) + (judged.steps['fired'] ?? 0);
  return judgedSteps > 0 ? `judges ${count(judgedSteps)} steps and finds nothing` : `${stateSign('NotApplicable').word} in the recorded steps`;
}

function cutNote(answer: WhatIfAnswer): string {
  if (answer.cut === 'no') return '';
  const why = answer.cut === 'time' ? 'time was up' : 'that is as many as are judged for a page';
  return `Only the first ${count(answer.judged_steps)} of ${count(answer.steps)} steps were judged, up to step ${answer.last_step}: ${why}. \`trainwarden check\` judges all.`;
}

/** Both answers as strips, and as words for who cannot see them. `again` judges what has been written since. */
export function showAnswer(place: HTMLElement, answer: WhatIfAnswer | SourceError, range: StripRange, cursor: number | null, again: () => void): string {
  if (answer instanceof SourceError) {
    replace(place, h('p', { class: 'bad', role: 'alert' }, answer.message));
    return answer.message;
  }
  const wide = { first: Math.min(range.first, Math.max(0, answer.first_step)), last: Math.max(range.last, answer.last_step) };
  const line = (title: string, judged: JudgedAnswer) => [
    h('strong', {}, title),
    h('span', {}, inWords(judged)),
    h('span', {}),
    strip(wide, marksOf(judged), `${title}: ${inWords(judged)}`, cursor, answer.last_step),
  ];
  const note = cutNote(answer);
  replace(
    place,
    h('div', { class: 'what-if-answer', 'data-now': answer.now.fired, 'data-changed': answer.changed.fired },
      ...line('Now', answer.now), ...line('Changed', answer.changed)),
    answer.changed.first && h('p', { class: 'rule-message' }, `First: ${answer.changed.first.message}`),
    note !== '' && h('p', { class: 'warn' }, `▲ ${note}`),
    answer.cut === 'no' && range.last > answer.last_step && h('p', {}, `Judged up to step ${answer.last_step}. `, h('button', { onclick: again }, `Judge up to step ${range.last}`)),
  );
  return `Now the rule ${inWords(answer.now)}; changed, it ${inWords(answer.changed)}. ${note}`;
}

/** Parameters as they are now: what was given, else the default. */
export function nowOf(kind: KindAnswer, given: Record<string, string>): Record<string, string> {
  return Object.fromEntries(kind.parameters.map(({ name, default: fallback }) => [name, given[name] ?? fallback]));
}
