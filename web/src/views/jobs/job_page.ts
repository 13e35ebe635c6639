// One job: how it stands and how it came there, its rules, files and logs, and the two requests.
import { SourceError } from '../../data/source';
import { h, replace } from '../../draw/dom';
import { drawn } from '../../draw/drawn';
import { save } from '../../draw/files';
import { keepingFocus } from '../../draw/focus';
import { duration } from '../../draw/numbers';
import { confirm, type Question } from '../confirm';
import type { PlaceContext, ViewState } from '../view';
import type { FilesAnswer, JobAnswer } from './api';
import { factsCard, filesCard, historyCard, parametersCard, rulesCard, specCard } from './cards';
import { LogPane } from './log_pane';
import { hasEnded, stateMark } from './states';

const FILES_EVERY_MS = 10_000;

const STOP: Question = { title: 'Stop this job?', explains: 'Its program gets SIGTERM, and SIGKILL when its grace is over. What it has stored stays; it can go on later.', button: 'Stop' };
const RESUME: Question = { title: 'Go on with this job?', explains: 'It waits for its turn and starts again, from its newest checkpoint where its program loads one.', button: 'Go on' };

export class JobPage {
  private readonly head = h('div', { class: 'toolbar job-head' });
  private readonly said = h('p', { role: 'status', class: 'muted' });
  private readonly cards = h('div', { class: 'cards' });
  private readonly logs: LogPane;
  private job: JobAnswer | null = null;
  private hasRun = false;
  private files: FilesAnswer | null = null;
  private filesAskedMs = -Infinity;
  private filesState = '';

  constructor(
    private readonly element: HTMLElement,
    private readonly context: PlaceContext,
    private readonly name: string,
    private state: ViewState,
  ) {
    this.logs = new LogPane(context.source, name, (log) => context.change({ log }));
    replace(element, this.head, this.said, this.cards);
  }

  update(state: ViewState): void {
    const log = this.state.params['log'];
    this.state = state;
    if (this.job && log !== state.params['log']) void this.logs.show(this.job.logs, this.wantedLog());
  }

  ended(): boolean {
    return this.job !== null && hasEnded(this.job);
  }

  /** Asks for everything that may be new. Throws SourceError. */
  async refresh(): Promise<void> {
    this.job = await this.context.source.json<JobAnswer>(`/jobs/${encodeURIComponent(this.name)}`);
    await Promise.all([this.askRun(), this.askFiles()]);
    this.draw();
    await this.logs.show(this.job.logs, this.wantedLog());
  }

  private wantedLog(): string {
    return this.state.params['log'] ?? 'output';
  }

  /** Its run may not be there yet, or lie elsewhere. */
  private async askRun(): Promise<void> {
    const id = this.job!.run.id;
    if (id === null) return;
    try {
      await this.context.source.json(`/runs/${id}`);
      this.hasRun = true;
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      this.hasRun = false;
    }
  }

  private async askFiles(): Promise<void> {
    const now = Date.now();
    const state = this.job!.secondary_status;
    if (state === this.filesState && (this.ended() || now - this.filesAskedMs < FILES_EVERY_MS)) return;
    this.filesAskedMs = now;
    this.filesState = state;
    try {
      this.files = await this.context.source.json<FilesAnswer>(`/jobs/${encodeURIComponent(this.name)}/files`);
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      this.files = null; // its file cannot be read by this version
    }
  }

  private draw(): void {
    const job = this.job!;
    const now = Date.now();
    keepingFocus(this.head, () => replace(this.head,
      h('a', { href: '#/jobs' }, 'All jobs'), h('h1', { title: job.name }, job.name), stateMark(job.secondary_status),
      h('span', { class: 'muted' }, job.ran_ms > 0 ? `has run for ${duration(job.ran_ms)}` : ''),
      ...this.buttons(job)));
    replace(this.said, job.message);
    keepingFocus(this.cards, () => replace(this.cards,
      historyCard(job, now), factsCard(job, this.hasRun), rulesCard(job, this.hasRun), parametersCard(job),
      filesCard(this.files, job.name, (name) => void this.give(name)), specCard(job)));
    if (!this.logs.element.isConnected) this.element.append(this.logs.element);
    drawn(this.element, null);
  }

  private buttons(job: JobAnswer): HTMLElement[] {
    if (!this.context.actionsAllowed) return [];
    const button = (path: 'stop' | 'resume', title: string, question: Question) =>
      h('button', { onclick: () => confirm(this.element, question, (reason) => void this.send(path, reason)) }, title);
    return [...(job.can_stop ? [button('stop', 'Stop …', STOP)] : []), ...(job.can_resume ? [button('resume', 'Go on …', RESUME)] : [])];
  }

  private async send(path: 'stop' | 'resume', reason: string): Promise<void> {
    try {
      const now = await this.context.source.post<{ secondary_status: string }>(`/jobs/${encodeURIComponent(this.name)}/${path}`, reason === '' ? {} : { reason });
      this.context.announce(`${this.name}: ${now.secondary_status}`);
      await this.refresh();
    } catch (error) {
      this.tell(error);
    }
  }

  private async give(name: string): Promise<void> {
    try {
      const file = await this.context.source.file(`/jobs/${encodeURIComponent(this.name)}/file`, { name });
      save(file.name, file.data);
      this.context.announce(`Saved ${file.name}`);
    } catch (error) {
      this.tell(error);
    }
  }

  private tell(error: unknown): void {
    if (!(error instanceof SourceError)) throw error;
    replace(this.said, h('span', { class: 'bad' }, error.message));
    this.context.announce(error.message);
  }
}
