// TensorsView: all tensors of a run on one side, one of them on the other.
import { drawn } from '../../draw/drawn';
import { csvOf, fileName } from '../../draw/files';
import { h, replace } from '../../draw/dom';
import { SourceError } from '../../data/source';
import { StepRanges } from '../../data/step_ranges';
import type { KeyHelp, Snapshot, SnapshotKind, View, ViewContext, ViewState } from '../view';

import { recordsText, TensorApi, type TensorInfo, type TensorList } from './api';
import { Browser } from './browser';
import { Detail } from './detail';
import type { Grouping } from './name_tree';

const RENEW_MS = 400; // at most one look at a growing run in this time

function groupingOf(text: string | undefined): Grouping {
  return text === 'collection' || text === 'flat' ? text : 'path';
}

export class TensorsView implements View {
  readonly keys: readonly KeyHelp[] = [
    { keys: '↑ ↓ PgUp PgDn', does: 'in the list: from tensor to tensor' },
    { keys: '← →', does: 'in the list: close, open a group; in a grid: move the cursor' },
    { keys: 'Enter', does: 'show the tensor; on a picture: its numbers' },
  ];
  private readonly api: TensorApi;
  private readonly browser: Browser;
  private readonly detail: Detail;
  private readonly fault = h('p', { class: 'fault', role: 'alert', hidden: true });
  private readonly root: HTMLElement;
  private readonly forget: () => void;
  private list: TensorList | null = null;
  private info: TensorInfo | null = null;
  private infoOf = '';
  private recordsOf = ''; // that the info tells of
  private readonly asking = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private renewing = false;
  private again = false;

  constructor(
    private readonly element: HTMLElement,
    private readonly context: ViewContext,
    private state: ViewState,
  ) {
    this.api = new TensorApi(context.source, context.run.id);
    const failed = (error: unknown) => this.fail(error);
    this.browser = new Browser(this.api, {
      choose: (tensor) => context.change({ tensor, at: undefined, over: undefined, down: undefined, across: undefined, row: undefined, cell: undefined }),
      search: (text) => context.change({ q: text === '' ? undefined : text }),
      group: (grouping) => context.change({ by: grouping === 'path' ? undefined : grouping }),
      order: (order) => context.change({ sort: order === 'name' ? undefined : order }),
      failed,
    });
    this.detail = new Detail({ api: this.api, context, failed, drawn: (step) => drawn(element, step) });
    this.root = h('div', { class: 'tensors' }, this.fault, this.browser.element, this.detail.element);
    replace(element, this.root);
    this.forget = context.source.notices((notice) => {
      if (notice.run === context.run.id) this.renewSoon();
    });
    void this.renew();
  }

  update(state: ViewState): void {
    const before = this.state;
    this.state = state;
    if (before.params === state.params && before.step === state.step) return; // news, which renew themselves
    const isOther = before.params['tensor'] !== state.params['tensor'];
    if (isOther || this.info) this.fault.hidden = true; // that there is no such tensor stays said
    if (isOther) void this.renew();
    this.show();
  }

  async snapshot(kind: SnapshotKind): Promise<Snapshot | undefined> {
    const name = this.state.params['tensor'];
    const data = name === undefined ? (kind === 'csv' ? csvOf(this.browser.table()) : undefined) : await this.detail.snapshot(kind);
    return data && { fileName: `${fileName(this.context.run.name, name ?? 'tensors', this.detail.words())}.${kind}`, data };
  }

  steps(): readonly number[] {
    return this.info ? Array.from(new StepRanges(this.info.steps).list()) : [];
  }

  destroy(): void {
    clearTimeout(this.timer);
    this.forget();
    this.asking.abort();
    this.browser.destroy();
    this.detail.destroy();
    replace(this.element);
  }

  private renewSoon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.renew();
    }, RENEW_MS);
  }

  private async renew(): Promise<void> {
    if (this.renewing) {
      this.again = true;
      return;
    }
    this.renewing = true;
    try {
      this.list = await this.api.list(this.asking.signal);
      const name = this.state.params['tensor'];
      const index = name === undefined ? -1 : this.list.names.indexOf(name);
      const records = index < 0 ? '' : recordsText(this.list, index);
      if (index < 0) this.info = null;
      else if (name !== this.infoOf || records !== this.recordsOf) this.info = await this.api.info(this.list.ids[index]!, this.asking.signal);
      this.infoOf = name ?? '';
      this.recordsOf = records;
      this.fault.hidden = true;
      if (name !== undefined && index < 0) this.fail(new SourceError('not found', `This run has no tensor "${name}" (yet).`));
    } catch (error) {
      if (!this.asking.signal.aborted) this.fail(error);
    }
    this.renewing = false;
    if (this.asking.signal.aborted) return;
    this.show();
    if (this.again) {
      this.again = false;
      void this.renew();
    }
  }

  private show(): void {
    if (!this.list) return;
    const { params, step } = this.state;
    const tensor = params['tensor'];
    this.root.classList.toggle('tn-both', tensor !== undefined);
    this.browser.show(this.list, { search: params['q'] ?? '', grouping: groupingOf(params['by']), order: params['sort'] ?? 'name', tensor, step });
    if (tensor !== undefined && this.info && this.infoOf === tensor) this.detail.show({ info: this.info, step, params });
    else this.detail.hide();
    if (tensor === undefined) drawn(this.element, this.list.last_steps.reduce((a, b) => Math.max(a, b), -1));
  }

  private fail(error: unknown): void {
    this.fault.hidden = false;
    replace(this.fault, (error as Error).message);
  }
}
