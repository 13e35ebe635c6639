// Runs written by sample_runs, and a server of the built program that shows them: for tests and benchmarks.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface, type Interface } from 'node:readline';

const build = resolve(process.env.TRAINWARDEN_BUILD ?? '../build/release');
const program = join(build, 'bin/trainwarden');
const sampleRuns = join(build, 'tests/page/sample_runs');
const sampleJobs = join(build, 'tests/page/sample_jobs');

export type Kind = 'training' | 'apart' | 'attention' | 'long' | 'head' | 'series' | 'tensors' | 'layers' | 'many' | 'hostile';

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

  /** As many jobs as if they had run (tests/page/sample_jobs.cc). Gives their folder. */
  writeJobs(count: number): string {
    const folder = join(this.folder, 'work/jobs');
    execFileSync(sampleJobs, [folder, String(count), this.folder]);
    return folder;
  }

  remove(name: string): void {
    rmSync(join(this.folder, name), { recursive: true });
  }

  /** A run that takes a step whenever step() is called. */
  live(name: string, kind: 'live' | 'live-attention' = 'live'): LiveRun {
    const child = spawn(sampleRuns, [kind, join(this.folder, name)], { stdio: ['pipe', 'pipe', 'pipe'] });
    this.children.push(child);
    return new LiveRun(child);
  }

  /** A program without a hook, whose output is read: it prints what print() says. */
  printing(name: string): PrintingRun {
    const log = join(this.folder, `${name}.log`);
    const child = spawn(program, ['run', '--runs', this.folder, '--name', name, '--log', log, '--', 'cat'], { stdio: ['pipe', 'ignore', 'ignore'] });
    this.children.push(child);
    return new PrintingRun(child, join(this.folder, name, 'run.json'));
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

export class PrintingRun {
  constructor(
    private readonly child: ChildProcess,
    private readonly runFile: string,
  ) {}

  print(text: string): void {
    this.child.stdin!.write(text);
  }

  /** Something of what was printed is in the run. */
  get isThere(): boolean {
    return existsSync(this.runFile);
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
