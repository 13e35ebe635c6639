// The logs of a job: the end of one of them, live.
import { SourceError, type Source } from '../../data/source';
import { h, replace } from '../../draw/dom';
import { bytes } from '../../draw/numbers';
import type { JobLog, LogPiece } from './api';
import { LogText } from './log_text';

const MOST_CHARACTERS = 2_000_000;
const AT_END_PIXELS = 24;

export function titleOf(log: JobLog): string {
  if (log.kind === 'rank' || log.kind === 'rule') return `${log.kind} ${log.name}`;
  return log.kind === 'agent' ? 'its agents' : 'the program';
}

export class LogPane {
  readonly element: HTMLElement;
  private readonly choice = h('select', { id: 'job-log', onchange: () => this.choose(this.choice.value) });
  private readonly earlier = h('button', { hidden: true, onclick: () => void this.readEarlier() }, 'Earlier lines');
  private readonly said = h('span', { class: 'muted', role: 'status' });
  private readonly text = h('pre', { class: 'log', tabindex: 0, role: 'region', 'aria-label': 'Log' });
  private readonly lines = document.createTextNode('');
  private readonly last = document.createTextNode('');
  private log = new LogText();
  private shown: string | undefined;
  private from = 0;
  private to: number | undefined; // undefined: nothing was read yet
  private reading = false;
  private options = '';

  constructor(
    private readonly source: Source,
    private readonly job: string,
    private readonly choose: (log: string) => void,
  ) {
    this.text.append(this.lines, this.last);
    this.element = h('section', { class: 'panel log-pane', 'aria-label': 'Logs' },
      h('div', { class: 'toolbar' }, h('h2', {}, 'Log'), h('label', { for: 'job-log' }, 'of ', this.choice), this.earlier, this.said), this.text);
  }

  /** Shows this one of the logs and reads what is new in it. */
  async show(logs: readonly JobLog[], wanted: string): Promise<void> {
    const chosen = logs.find(({ id }) => id === wanted) ?? logs[0];
    this.offer(logs, chosen);
    if (!chosen) {
      replace(this.said, 'nothing was printed yet');
      return;
    }
    if (chosen.id !== this.shown) this.begin(chosen.id);
    await this.readNew();
  }

  private offer(logs: readonly JobLog[], chosen: JobLog | undefined): void {
    const options = JSON.stringify([logs.map(({ id }) => id), chosen?.id]);
    if (options === this.options) return;
    this.options = options;
    replace(this.choice, ...logs.map((log) => h('option', { value: log.id, selected: log.id === chosen?.id }, titleOf(log))));
  }

  private begin(id: string): void {
    this.shown = id;
    this.to = undefined;
    this.log = new LogText();
    this.lines.data = '';
    this.last.data = '';
  }

  /** Up to the end; a log that grows faster than it is read is left for the next look. */
  private async readNew(): Promise<void> {
    if (this.reading) return;
    this.reading = true;
    const id = this.shown!;
    try {
      for (let round = 0; round < 8 && id === this.shown; ++round) {
        const piece = await this.ask(id, this.to === undefined ? {} : { from: this.to });
        if (id !== this.shown) break;
        if (this.to !== undefined && piece.bytes < this.to) this.begin(id); // it was made anew
        else this.take(piece);
        if (piece.to >= piece.bytes || piece.text === '') break;
      }
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      replace(this.said, error.message);
    } finally {
      this.reading = false;
    }
  }

  private ask(id: string, parameters: { from?: number; before?: number }): Promise<LogPiece> {
    return this.source.json<LogPiece>(`/jobs/${encodeURIComponent(this.job)}/logs/${encodeURIComponent(id)}`, parameters);
  }

  private take(piece: LogPiece): void {
    const pane = this.text;
    const follows = pane.scrollHeight - pane.scrollTop - pane.clientHeight < AT_END_PIXELS;
    if (this.to === undefined) this.from = piece.from;
    this.to = piece.to;
    const more = this.log.push(piece.text);
    if (more !== '') this.lines.data = this.bounded(this.lines.data + more);
    if (this.last.data !== this.log.unfinished) this.last.data = this.log.unfinished;
    this.tell(piece.bytes);
    if (follows) pane.scrollTop = pane.scrollHeight;
  }

  /** The newest lines are kept; where the others lie is then not known exactly, and they are not offered. */
  private bounded(text: string): string {
    if (text.length <= MOST_CHARACTERS) return text;
    this.from = -1;
    return text.slice(text.indexOf('\n', text.length - MOST_CHARACTERS) + 1);
  }

  private tell(size: number): void {
    this.earlier.hidden = this.from <= 0;
    replace(this.said, `${bytes(size)}${this.from === 0 ? '' : ', its end'}`);
  }

  private async readEarlier(): Promise<void> {
    const id = this.shown;
    const end = this.from;
    if (id === undefined || end <= 0) return;
    try {
      const piece = await this.ask(id, { before: end });
      if (id !== this.shown || end !== this.from) return;
      const height = this.text.scrollHeight;
      const text = new LogText();
      this.lines.data = text.push(piece.text) + text.unfinished + this.lines.data;
      this.from = piece.from;
      this.tell(piece.bytes);
      this.text.scrollTop += this.text.scrollHeight - height;
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      replace(this.said, error.message);
    }
  }
}
