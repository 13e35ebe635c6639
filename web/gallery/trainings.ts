// Five small real trainings under `trainwarden run`, each of which can be held in the middle while it is looked at.
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve('..');
const build = resolve(process.env.TRAINWARDEN_BUILD ?? '../build/release');
/** Has the package `trainwarden` and PyTorch. */
const python = process.env.TRAINWARDEN_GALLERY_PYTHON ?? resolve('../build/venv/bin/python');
const PAUSE = '0.05'; // seconds a step, of programs that would be over before they are looked at

export interface Training {
  name: string;
  command: readonly string[];
  /** The step at which it is held. */
  held: number;
  /** One of its tensors, which has values. */
  tensor: string;
  attention: boolean;
}

function slowly(program: string, ...args: string[]): string[] {
  return [python, resolve('gallery/slowly.py'), PAUSE, join(root, 'tests/rules', program), ...args];
}

const text = ['README.md', 'ARCHITECTURE.md', 'docs/guide'].map((name) => join(root, name));

export const trainings: readonly Training[] = [
  { name: 'image-cnn', command: [join(build, 'bin/fashion_mnist'), '--steps', '120'], held: 60, tensor: 'conv0.weight', attention: false },
  {
    name: 'language-model', command: [join(build, 'bin/tiny_bert'), '--steps', '200', '--text', ...text],
    held: 110, tensor: 'encoder.layer.0.attention.self.query.weight', attention: true,
  },
  { name: 'gan', command: slowly('healthy/gan.py'), held: 60, tensor: 'generator.0.weight', attention: false },
  { name: 'nan', command: slowly('programs/non_finite_origin.py', '--fault'), held: 63, tensor: 'stem.weight', attention: false },
  { name: 'two-ranks', command: slowly('programs/replica_divergence.py', '--fault'), held: 40, tensor: '0.weight', attention: false },
];

/** The processes that this one has started, and theirs. */
function descendants(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
      parents.set(Number(entry), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // It has ended meanwhile.
    }
  }
  const below = (parent: number): number[] =>
    [...parents].flatMap(([child, of]) => (of === parent ? [child, ...below(child)] : []));
  return below(pid);
}

/** A training under way. */
export class Trained {
  private readonly child: ChildProcess;
  private readonly ended: Promise<number | null>;
  private said = '';
  private held: number[] = [];

  constructor(training: Training, runs: string) {
    const args = ['run', '--runs', runs, '--name', training.name, '--rules', 'default', '--', ...training.command];
    this.child = spawn(join(build, 'bin/trainwarden'), args, { stdio: ['ignore', 'pipe', 'pipe'], cwd: runs });
    this.child.stdout!.on('data', (chunk) => (this.said += chunk));
    this.child.stderr!.on('data', (chunk) => (this.said += chunk));
    this.ended = new Promise((done) => this.child.once('exit', done));
  }

  /** Its program stands still; who watches it goes on. */
  hold(): void {
    this.held = descendants(this.child.pid!);
    for (const pid of this.held) process.kill(pid, 'SIGSTOP');
  }

  /** What it has printed, once it is over; null while it trains. */
  get lastWords(): string | null {
    return this.child.exitCode === null && this.child.signalCode === null ? null : this.said;
  }

  async finish(): Promise<void> {
    for (const pid of this.held) process.kill(pid, 'SIGCONT');
    this.held = [];
    await this.ended;
  }

  /** For when something went wrong. */
  kill(): void {
    for (const pid of [...this.held, ...descendants(this.child.pid!)]) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended meanwhile.
      }
    }
    this.child.kill('SIGKILL');
  }
}
