// The what-if of the rule that is shown: kept while the view is drawn again, so that a slider survives while it is dragged.
import { SourceError } from '../../data/source';
import { h, replace } from '../../draw/dom';
import { keepingFocus } from '../../draw/focus';
import type { ViewContext, ViewState } from '../view';
import { changesIn, declaredOf, noChanges, wordOf, type KindAnswer } from './parameters';
import type { StripRange } from './strip';
import { nowOf, parameterRow, showAnswer, WhatIfAsker, type WhatIfAnswer, type WhatIfQuestion } from './what_if';

export class WhatIfPart {
  readonly element = h('section', { 'aria-label': 'What if', 'data-what-if': '' });
  private readonly form = h('div', {});
  private readonly answerPlace = h('div', { 'aria-live': 'off' });
  private readonly asker: WhatIfAsker;
  private formOf = '';
  private asked = '';
  private question: WhatIfQuestion | null = null;
  private range: StripRange = { first: 0, last: 0 };
  private cursor: number | null = null;
  private answer: WhatIfAnswer | SourceError | null = null;

  constructor(private readonly context: ViewContext) {
    this.asker = new WhatIfAsker(context.source, context.run.id, (_, answer) => this.take(answer));
    replace(this.element, h('h3', {}, 'What if'), h('p', { class: 'muted' }, 'Judges the recorded steps again with other parameters, also after the rule has fired. Nothing is written.'), this.form, this.answerPlace);
  }

  /** `given`: the parameters of a rule of this run; null for a rule that is only tried. */
  show(kind: KindAnswer, given: Record<string, string> | null, state: ViewState, range: StripRange): void {
    this.range = range;
    this.cursor = state.step;
    const changes = declaredOf(kind, changesIn(state.params));
    const recorded = declaredOf(kind, given ?? {});
    const now = nowOf(kind, recorded);
    this.drawForm(kind, now, changes, state);
    if (given !== null && Object.keys(changes).length === 0) {
      this.asked = '';
      this.answer = null;
      replace(this.answerPlace);
      return;
    }
    const question: WhatIfQuestion = { rule: kind.rule, now: recorded, parameters: { ...recorded, ...changes } };
    this.ask(question);
    if (this.answer) this.showAnswer(this.answer);
  }

  /** Not automatically: a running run would be judged from its beginning again and again. */
  private showAnswer(answer: WhatIfAnswer | SourceError): string {
    let words = '';
    keepingFocus(this.answerPlace, () => {
      words = showAnswer(this.answerPlace, answer, this.range, this.cursor, () => this.question && this.asker.ask(this.question));
    });
    return words;
  }

  destroy(): void {
    this.asker.destroy();
  }

  private drawForm(kind: KindAnswer, now: Record<string, string>, changes: Record<string, string>, state: ViewState): void {
    const key = JSON.stringify([kind.rule, now, changes]);
    if (key === this.formOf) return;
    this.formOf = key;
    keepingFocus(this.form, () =>
      replace(
        this.form,
        ...kind.parameters.map((parameter) => {
          const base = now[parameter.name]!;
          return parameterRow(parameter, base, changes[parameter.name] ?? base, (text) => this.context.change({ [wordOf(parameter.name)]: text }));
        }),
        Object.keys(changes).length > 0 && h('button', { onclick: () => this.context.change(noChanges(state.params)) }, 'As it is now'),
      ),
    );
  }

  private ask(question: WhatIfQuestion): void {
    const key = JSON.stringify(question);
    if (key === this.asked) return;
    this.asked = key;
    this.question = question;
    if (!this.answer) replace(this.answerPlace, h('p', { class: 'muted', role: 'status' }, 'Judging …'));
    this.asker.ask(question);
  }

  private take(answer: WhatIfAnswer | SourceError): void {
    this.answer = answer;
    this.context.announce(this.showAnswer(answer));
  }
}
