// PlainTab: a tab of a Chromium that nobody drives. Playwright has the browser keep the body of every answer for its
// own use, up to 100 MB a tab, which a tab of a user does not; here only what is asked for is switched on.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';

import { chromium } from '../playwright.config';

type Words = Record<string, unknown>;

export class PlainTab {
  private readonly waiting = new Map<number, { done: (result: Words) => void; failed: (error: Error) => void }>();
  private session: string | undefined;
  private sent = 0;
  private rest = '';

  private constructor(private readonly child: ChildProcess, private readonly profile: string) {
    (child.stdio[4] as Readable).setEncoding('utf8').on('data', (text: string) => this.receive(text));
    child.once('exit', () => this.fail(new Error('Chromium has ended')));
  }

  /** Shows the page at an address that lets it in. */
  static async open(url: string): Promise<PlainTab> {
    const profile = mkdtempSync(join(tmpdir(), 'trainwarden-tab-'));
    const args = [...chromium.args, '--headless', '--remote-debugging-pipe', `--user-data-dir=${profile}`, '--window-size=1280,860', 'about:blank'];
    const tab = new PlainTab(spawn(chromium.executablePath, args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] }), profile);
    const { targetId } = await tab.ask('Target.createTarget', { url });
    tab.session = (await tab.ask('Target.attachToTarget', { targetId, flatten: true }))['sessionId'] as string;
    return tab;
  }

  async evaluate<T>(expression: string): Promise<T> {
    const { result, exceptionDetails } = await this.ask('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`);
    return (result as { value: T }).value;
  }

  async until(condition: string, patienceMs = 60_000): Promise<void> {
    for (const end = Date.now() + patienceMs; !(await this.evaluate<boolean>(`Boolean(${condition})`)); ) {
      if (Date.now() > end) throw new Error(`not so within ${patienceMs} ms: ${condition}`);
      await new Promise((done) => setTimeout(done, 50));
    }
  }

  /** Once what is not used any more has been collected: numbers and texts of the page, and its whole process. */
  async megabytes(): Promise<{ heap: number; tab: number }> {
    await this.ask('HeapProfiler.collectGarbage');
    const { usedSize } = await this.ask('Runtime.getHeapUsage');
    const { processInfo } = await this.ask('SystemInfo.getProcessInfo', {}, true);
    const tabs = (processInfo as { type: string; id: number }[]).filter(({ type }) => type === 'renderer').map(({ id }) => pssMb(id));
    return { heap: (usedSize as number) / 1e6, tab: Math.max(...tabs) };
  }

  async close(): Promise<void> {
    const ended = new Promise((done) => this.child.once('exit', done));
    this.child.kill('SIGKILL');
    await ended;
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }

  private ask(method: string, params: Words = {}, ofBrowser = false): Promise<Words> {
    const id = ++this.sent;
    const session = ofBrowser || this.session === undefined ? {} : { sessionId: this.session };
    (this.child.stdio[3] as Writable).write(`${JSON.stringify({ id, method, params, ...session })}\0`);
    return new Promise((done, failed) => this.waiting.set(id, { done, failed }));
  }

  private receive(text: string): void {
    const messages = (this.rest + text).split('\0');
    this.rest = messages.pop()!;
    for (const message of messages) {
      const { id, result, error } = JSON.parse(message) as { id?: number; result: Words; error?: { message: string } };
      const asker = id === undefined ? undefined : this.waiting.get(id);
      if (id !== undefined) this.waiting.delete(id);
      if (error) asker?.failed(new Error(error.message));
      else asker?.done(result);
    }
  }

  private fail(error: Error): void {
    for (const { failed } of this.waiting.values()) failed(error);
    this.waiting.clear();
  }
}

/** Proportional set size of a process in MB. */
export function pssMb(pid: number): number {
  const line = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8').match(/^Pss:\s+(\d+) kB/m);
  return Number(line![1]) / 1024;
}
