// Which parameters matter for the metric, by two methods that see different things.
import { h, replace } from '../../draw/dom';
import { keepingFocus } from '../../draw/focus';
import { count } from '../../draw/numbers';
import { whenSeen } from '../../draw/seen';
import type { ImportanceAnswer } from './api';
import type { ImportanceAnswers } from './importance_answers';
import { importanceRows, importanceTable, trustWords } from './importance_table';
import { panel, type StudyPart, type StudyShown } from './part';
import { isLive } from './trials';

const FIRST = 12; // so many parameters are shown until somebody asks for all
const FIRST_PAIRS = 8;

export class ImportancePart implements StudyPart {
  readonly element: HTMLElement;
  private readonly said = h('p', { class: 'muted', role: 'status' });
  private readonly again = h('button', { hidden: true, onclick: () => this.askAgain() }, 'Ask again');
  private readonly body = h('div', { class: 'importance' });
  private readonly more = h('button', { hidden: true, onclick: () => this.showAll() });
  private readonly callOff: () => void;
  private isSeen = false;
  private all = false;
  private shown: StudyShown | null = null;
  private drawn: ImportanceAnswer | null = null;

  constructor(private readonly answers: ImportanceAnswers) {
    this.element = panel('Importance', 'How much each parameter matters: for being among the best trials (PED-ANOVA), and for all differences between trials (fANOVA). The lines are intervals of uncertainty.',
      this.said, this.again, this.body, this.more);
    this.callOff = whenSeen(this.element, () => {
      this.isSeen = true;
      if (this.shown) this.show(this.shown);
    });
  }

  show(shown: StudyShown): void {
    this.shown = shown;
    const { answer, metric } = shown;
    this.element.hidden = metric === '';
    const { complete } = answer.counts;
    if (this.isSeen && metric !== '' && complete > 0) this.answers.want({ metric, complete, live: isLive(answer) });
    const now = this.answers.of(metric);
    this.again.hidden = this.answers.problem === null || this.answers.isAsking;
    const words = this.words(complete, now);
    if (words !== this.said.textContent) replace(this.said, words); // else it would be read out with each look
    if (now === this.drawn) return; // polls leave it alone
    this.drawn = now;
    this.draw(now);
  }

  destroy(): void {
    this.callOff();
    this.answers.destroy();
  }

  private words(complete: number, now: ImportanceAnswer | null): string {
    if (complete === 0) return 'No trial is complete yet.';
    if (this.answers.problem !== null && !this.answers.isAsking) return `This could not be asked: ${this.answers.problem}`;
    if (!now) return 'Asking which parameters matter …';
    const left = now.left_out > 0 ? `, ${count(now.left_out)} left out` : '';
    return `${now.metric}, of ${count(now.trials)} ${now.trials === 1 ? 'trial' : 'trials'}${left}. ${now.note}`.trim();
  }

  private draw(answer: ImportanceAnswer | null): void {
    const rows = answer ? importanceRows(answer) : [];
    const pairs = answer?.fanova?.pairs ?? [];
    const [shownRows, shownPairs] = this.all ? [rows, pairs] : [rows.slice(0, FIRST), pairs.slice(0, FIRST_PAIRS)];
    this.more.hidden = shownRows.length === rows.length && shownPairs.length === pairs.length;
    replace(this.more, `Show all ${count(rows.length)} parameters and ${count(pairs.length)} pairs`);
    keepingFocus(this.body, () => replace(this.body,
      answer && rows.length > 0 && importanceTable(answer, shownRows, shownPairs),
      answer && rows.length > 0 && h('p', { class: answer.fanova && !answer.fanova.trusted ? 'warn' : 'muted', 'data-test': 'trust' }, trustWords(answer))));
  }

  private showAll(): void {
    this.all = true;
    this.draw(this.drawn);
  }

  private askAgain(): void {
    this.answers.forget();
    if (this.shown) this.show(this.shown);
  }
}
