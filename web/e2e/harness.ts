// What the browser's tests share: runs written by sample_runs, and a server of the built program that shows them.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface, type Interface } from 'node:readline';

import { test as base, expect, type Page } from '@playwright/test';

const build = resolve(process.env.TRAINWARDEN_BUILD ?? '../build/release');
const program = join(build, 'bin/trainwarden');
const sampleRuns = join(build, 'tests/page/sample_runs');
const screenshots = resolve(process.env.TRAINWARDEN_E2E_OUT ?? '../build/page', 'screenshots');

export type Kind = 'training' | 'apart' | 'attention' | 'long' | 'head' | 'series' | 'tensors' | 'many' | 'hostile';

/** The next line of a child's standard output. Fails with what it said on standard error when it ends before. */
async function nextLine(child: ChildProcess, lines: Interface, said: () => string): Promise<string> {
  return new Promise((done, failed) => {
    const ended = () => failed(new Error(`${child.spawnargs.join(' ')} ended: ${said()}`));
    child.once('exit', ended);
    lines.once('line', (line) => {
      child.off('exit', ended);
      done(line);
    });
  });
}

/** A folder of runs of this test. */
export class Runs {
  readonly folder = mkdtempSync(join(tmpdir(), `trainwarden-page-${process.pid}-`));
  private readonly children: ChildProcess[] = [];

  write(kind: Kind, name: string = kind, number?: number): string {
    const folder = join(this.folder, name);
    execFileSync(sampleRuns, [kind, folder, ...(number === undefined ? [] : [String(number)])]);
    return folder;
  }

  /** A run that takes a step whenever step() is called. */
  live(name: string): LiveRun {
    const child = spawn(sampleRuns, ['live', join(this.folder, name)], { stdio: ['pipe', 'pipe', 'pipe'] });
    this.children.push(child);
    return new LiveRun(child);
  }

  /** Runs the program; what it writes on standard output. Throws when it fails. */
  trainwarden(...args: string[]): string {
    return execFileSync(program, args, { encoding: 'utf8', cwd: this.folder });
  }

  close(): void {
    for (const child of this.children) child.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export class LiveRun {
  private readonly lines: Interface;
  private errors = '';

  constructor(private readonly child: ChildProcess) {
    this.lines = createInterface({ input: child.stdout! });
    child.stderr!.on('data', (chunk) => (this.errors += chunk));
  }

  /** Trains a step. Gives its number and when it was in the run's files, in ms since 1970. */
  async step(): Promise<{ step: number; flushedMs: number }> {
    const line = nextLine(this.child, this.lines, () => this.errors);
    this.child.stdin!.write('go on\n');
    const [step, unixNs] = (await line).split(' ');
    return { step: Number(step), flushedMs: Number(unixNs) / 1e6 };
  }

  async steps(count: number): Promise<void> {
    for (let i = 0; i < count; ++i) await this.step();
  }

  /** Closes the run as a training that has ended does. */
  async end(): Promise<void> {
    const exited = new Promise((done) => this.child.once('exit', done));
    this.child.stdin!.end();
    await exited;
  }

  kill(): void {
    this.child.kill('SIGKILL');
  }
}

export class Server {
  private constructor(
    private readonly child: ChildProcess,
    /** With the token in its fragment. */
    readonly url: string,
    readonly port: number,
  ) {}

  static async start(place: string, ...args: string[]): Promise<Server> {
    const child = spawn(program, ['serve', place, '--port', '0', '--json', '--no-open', ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let errors = '';
    child.stderr!.on('data', (chunk) => (errors += chunk));
    const lines = createInterface({ input: child.stdout! });
    const started = JSON.parse(await nextLine(child, lines, () => errors)) as { url: string; port: number };
    return new Server(child, started.url, started.port);
  }

  get token(): string {
    return new URL(this.url).hash.slice('#t='.length);
  }

  /** The address of a place of the page, for who has been let in. */
  at(link: string): string {
    return `http://127.0.0.1:${this.port}/${link}`;
  }

  get pid(): number {
    return this.child.pid!;
  }

  close(): void {
    this.child.kill('SIGKILL');
  }
}

interface Fixtures {
  runs: Runs;
  /** A server of `runs`, and the page let in to it. */
  server: Server;
}

export const test = base.extend<Fixtures>({
  runs: async ({}, use) => {
    const runs = new Runs();
    await use(runs);
    runs.close();
  },
  server: async ({ runs }, use) => {
    const server = await Server.start(runs.folder);
    await use(server);
    server.close();
  },
});

/** Shows the page to the browser: with the token first, then at the link ("#/run/NAME/VIEW?step=3"). */
export async function visit(page: Page, server: Server, link = '#/'): Promise<void> {
  await page.goto(server.url);
  await page.waitForSelector('main');
  if (link !== '#/') await page.goto(server.at(link));
}

/** A picture for people, kept with what CI leaves. */
export async function picture(page: Page, name: string): Promise<void> {
  mkdirSync(screenshots, { recursive: true });
  await page.screenshot({ path: join(screenshots, `${name}.png`) });
}

/** Everything that axe finds against WCAG 2.2 AA on the page as it is. */
export async function axeViolations(page: Page): Promise<string[]> {
  await page.addScriptTag({ path: resolve('node_modules/axe-core/axe.min.js') }).catch(async () => {
    await page.evaluate((await import('node:fs')).readFileSync(resolve('node_modules/axe-core/axe.min.js'), 'utf8'));
  });
  return page.evaluate(async () => {
    const axe = (window as unknown as { axe: { run(options: object): Promise<{ violations: AxeViolation[] }> } }).axe;
    interface AxeViolation { id: string; nodes: { target: string[]; failureSummary: string }[] }
    const found = await axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] });
    return found.violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.target.join(' ')}: ${n.failureSummary}`));
  });
}

export { expect };
