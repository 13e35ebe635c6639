// Answers about the time of a run, for tests: two workers of which one waits for data, on a machine with a GPU.
import { arrayOf, Arrays, type DType, type NdArray } from '../../data/safetensors';
import type { FlameAnswer, ProfileAnswer, RecordedStep, SystemLine, Timeline, WorkerPart } from './api';

export const FROM = 1_700_000_000_000;
const STEP_MS = 100;

/** Between 0 and 1, the same each time. */
export function noise(seed: number): number {
  const x = Math.sin(seed * 12.9898 + 4.1) * 43758.5453;
  return x - Math.floor(x);
}

function wave(buckets: number, seed: number, mean: number, spread: number): number[] {
  return Array.from({ length: buckets }, (_, i) => Math.max(0, mean + spread * (0.6 * Math.sin(i / 17 + seed) + 0.8 * (noise(i + 1000 * seed) - 0.5))));
}

function line(kind: string, label: string, unit: string, values: (number | null)[], part = '', instance = 'box'): SystemLine {
  return { kind, label, unit, instance, part, values };
}

export function sampleTimeline(buckets = 240, minutes = 4): Timeline {
  const cores = Array.from({ length: 8 }, (_, i) => line('core', 'processor', '%', wave(buckets, i + 20, i === 3 ? 92 : 25, 20).map((x) => Math.min(100, x)), String(i)));
  const stalls = (i: number) => i % 60 > 54;
  const shares: [string, (i: number) => number][] = [
    ['data_wait', (i) => 0.52 + 0.1 * (noise(i) - 0.5)], ['forward', () => 0.14], ['loss', () => 0.02], ['backward', () => 0.2],
    ['optimizer', () => 0.05], ['zero_grad', () => 0.01], ['checkpoint', (i) => (stalls(i) ? 0.6 : 0)], ['capture', () => 0.005],
  ];
  const phases = ['rank-00000', 'rank-00001'].flatMap((worker, w) => {
    const raw = Array.from({ length: buckets }, (_, i) => shares.map(([, share]) => share(i + 7 * w) * (w === 1 ? 0.9 : 1)));
    const sums = raw.map((each) => Math.max(1, each.reduce((a, b) => a + b, 0)));
    const known = (i: number) => i > 3 && !(i > 150 && i < 158);
    const named = shares.map(([phase], p) => ({ worker, phase, values: raw.map((each, i) => (known(i) ? each[p]! / sums[i]! : null)) }));
    return [...named, { worker, phase: 'rest', values: raw.map((each, i) => (known(i) ? Math.max(0, 1 - each.reduce((a, b) => a + b, 0) / sums[i]!) : null)) }];
  });
  return {
    from_unix_ms: FROM, to_unix_ms: FROM + minutes * 60_000, buckets, left_out_lines: 0, phases,
    system: [
      line('cpu', 'processors', '%', wave(buckets, 1, 34, 12)), line('iowait', 'waiting for disks', '%', wave(buckets, 2, 9, 9)), ...cores,
      line('memory', 'memory', '%', wave(buckets, 3, 48, 2)), line('training_memory', 'memory of the training', 'bytes', wave(buckets, 4, 6e9, 2e8)),
      line('disk_read', 'read from disk', 'bytes/s', wave(buckets, 5, 9e7, 6e7), 'nvme0n1'), line('disk_written', 'written to disk', 'bytes/s', Array.from({ length: buckets }, (_, i) => (stalls(i) ? 4e8 : 1e6)), 'nvme0n1'),
      line('received', 'received', 'bytes/s', wave(buckets, 6, 2e4, 1e4), 'eth0'), line('sent', 'sent', 'bytes/s', wave(buckets, 7, 1e4, 1e4), 'eth0'),
      line('training_cpu', 'processors in the training', 'processors', wave(buckets, 8, 2.4, 0.6)),
      line('gpu', 'GPU', '%', wave(buckets, 9, 31, 20).map((x, i) => (i > 150 && i < 158 ? null : x)), '', 'gpu0'), line('gpu_memory', 'memory of the GPU', '%', wave(buckets, 10, 62, 1), '', 'gpu0'),
    ],
  };
}

function worker(name: string, median: number, skew: number, wait: number): WorkerPart {
  const rest = 1 - wait;
  const phases: [string, number][] = [['data_wait', wait], ['forward', 0.29 * rest], ['loss', 0.04 * rest], ['backward', 0.42 * rest], ['gradient_sync', 0.06 * rest], ['optimizer', 0.1 * rest], ['zero_grad', 0.01 * rest], ['checkpoint', 0.03 * rest], ['capture', 0.01 * rest], ['rest', 0.04 * rest]];
  return { worker: name, host: 'box', steps: 2400, wall_seconds: 240, median_ms: median, skew, phases: phases.map(([phase, share]) => ({ phase, share, ms_per_step: share * median, known_of_all_steps: phase === 'data_wait' || phase === 'checkpoint' })) };
}

const NAMES = ['aten::addmm', 'aten::mm', 'AddmmBackward0', 'aten::convolution_backward', 'aten::native_batch_norm', 'aten::_foreach_add_', 'aten::copy_', 'aten::item', 'aten::_local_scalar_dense', 'autograd::engine::evaluate_function', 'aten::relu', 'aten::threshold_backward', 'aten::add_', 'aten::empty', 'aten::linear', 'Optimizer.step#Adam.step', 'aten::sum', 'aten::zeros', 'aten::log_softmax', '<b>hostile</b>\u202eoperator'];

export function sampleProfile(): ProfileAnswer {
  const outliers = [600, 1200, 1800, 2390, 77].map((step, i) => ({ step, worker: i === 4 ? 'rank-00001' : 'rank-00000', unix_ms: FROM + step * STEP_MS, ms: 2100 - 330 * i, median_ms: 98, phase: i === 4 ? null : 'checkpoint', phase_ms: i === 4 ? null : 1980 - 330 * i, cause: i === 4 ? null : 'checkpoint' }));
  return {
    run: { name: 'first', state: 'completed', host: 'box', command: ['python', 'train.py'], created_unix_ms: FROM, from_unix_ms: FROM, to_unix_ms: FROM + 240_000 },
    verdict: {
      kind: 'finding', rule: 'InputBound', text: 'The training waits for its data: 53 % of each step on average, while one loader process keeps a single processor at 92 %.',
      advice: 'Give the DataLoader more workers, num_workers=4 first: three of eight processors are idle.', step_share: 0.53, gain: { expected: 1.9, min: 1.6, max: 2.1 },
    },
    steps: {
      count: 2400, divided: 240, wall_seconds: 240, start_seconds: 3.2, modes: [{ mode: 'train', count: 2400, seconds: 240 }, { mode: 'eval', count: 120, seconds: 9.5 }],
      duration_ms: { min: 71, p50: 98, p95: 131, p99: 210, max: 2100, mean: 100.4 },
      histogram: { edges_ms: Array.from({ length: 41 }, (_, i) => 70 + 4 * i), counts: Array.from({ length: 40 }, (_, i) => Math.round(260 * Math.exp(-(((i - 7) / 4) ** 2)) + (i > 12 ? 6 * noise(i) : 0))) },
      outliers, outlier_count: 5,
    },
    workers: [worker('rank-00000', 98, 1, 0.5), worker('rank-00001', 112, 1.14, 0.56)],
    timeline: sampleTimeline(),
    usage: [
      { kind: 'cpu', label: 'processors', unit: '%', instance: 'box', part: '', mean: 34, min: 3, p50: 33, p95: 55, p99: 61, max: 70 },
      { kind: 'disk_read', label: 'read from disk', unit: 'bytes/s', instance: 'box', part: 'nvme0n1', mean: 9e7, min: 0, p50: 8e7, p95: 2e8, p99: 2.2e8, max: 2.5e8 },
      { kind: 'training_memory', label: 'memory of the training', unit: 'bytes', instance: 'box', part: '', mean: 6e9, min: 1e9, p50: 6e9, p95: 6.2e9, p99: 6.3e9, max: 6.3e9 },
      { kind: 'gpu', label: 'GPU', unit: '%', instance: 'gpu0', part: '', mean: 31, min: 0, p50: 30, p95: 60, p99: 71, max: null },
    ],
    operators: {
      first_step: 5, last_step: 15, steps: 22, calls: 41_231, lost_calls: 12, wall_ms: 2310,
      rows: NAMES.map((name, i) => ({ name, kind: name.endsWith('Backward0') ? 'backward' : name.startsWith('Optimizer') ? 'user' : 'operator', calls: 900 - 30 * i, total_ms: 700 / (i + 1) + 12, self_ms: 640 / (i + 1), share: 0.27 / (i + 1), longest_ms: 9 / (i + 1) })),
    },
    stacks: { first_step: 5, last_step: 15, steps: 22, calls: 2200, lost_calls: 0, wall_ms: 2310, rows: [{ name: 'train.py:41 load_image', kind: 'python', calls: 1200, total_ms: 1300, self_ms: 1210, share: 0.52, longest_ms: 80 }] },
    memory: [
      { worker: 'rank-00000', device: -1, peak_bytes: 6.3e9, peak_step: 1999, at_end_bytes: 6.1e9, points: Array.from({ length: 100 }, (_, i) => [FROM + 2400 * i, 4e9 + 2e9 * (1 - Math.exp(-i / 20)) + 2e8 * noise(i)] as [number, number]) },
      { worker: 'rank-00000', device: 0, peak_bytes: 9.9e9, peak_step: 12, at_end_bytes: 8.2e9, points: Array.from({ length: 100 }, (_, i) => [FROM + 2400 * i, i < 2 ? 1e9 : 8.2e9 + 1.6e9 * noise(i + 50)] as [number, number]) },
    ],
    rules: [
      { rule: 'InputBound', status: 'fired', message: 'Waits for data take 53 % of the step.', advice: 'More workers.', step_share: 0.53, gain: { expected: 1.9, min: 1.6, max: 2.1 }, explained_by: null, evidence: [{ quantity: 'step_share', value: 0.53, threshold: 0.1, worker: null, metric: null, step: null }, { quantity: 'wait_ms', value: 52, threshold: 10, worker: 'rank-00001', metric: null, step: 2399 }], parameters: { threshold: 0.1 }, summary: '' },
      { rule: 'CheckpointStalls', status: 'fired', message: 'A checkpoint is written every 600 steps and takes 2.0 s, 3.3 % of the training.', advice: 'Write checkpoints half as often, or in the background.', step_share: 0.033, gain: { expected: 1.03, min: 1.01, max: 1.034 }, explained_by: null, evidence: [{ quantity: 'checkpoint_seconds', value: 2.0, threshold: 0.5, worker: 'rank-00000', metric: null, step: 600 }], parameters: { share: '0.02' }, summary: '' },
      { rule: 'LowGPUUtilization', status: 'fired', message: 'The GPU is at 60 % at most, and at 0 % in between.', advice: null, step_share: null, gain: null, explained_by: 'InputBound', evidence: [], parameters: { threshold_p95: '70' }, summary: '' },
      { rule: 'BatchSize', status: 'ok', message: 'The GPU’s memory is 62 % full, above the threshold of 60 %.', advice: null, step_share: null, gain: null, explained_by: null, evidence: [], parameters: { gpu_memory_p95: '60', patience: '1000' }, summary: '' },
      { rule: 'ThrottledContainer', status: 'not_applicable', message: 'The training runs in no control group with a quota.', advice: null, step_share: null, gain: null, explained_by: null, evidence: [], parameters: { threshold: '0.1' }, summary: '' },
      { rule: 'CommunicationNotOverlapped', status: 'insufficient_data', message: 'Only 2 steps have gradient_sync; 20 are needed.', advice: null, step_share: null, gain: null, explained_by: null, evidence: [], parameters: { min_steps: '20' }, summary: '' },
    ],
    cost: { capture_share: 0.004, capture_budget: 0.05, sampler_core_share: 0.0007, window_steps: 22, window_slowdown: 1.031 },
    comparison: null,
  };
}

function arraysOf(columns: Record<string, [dtype: DType, values: Float64Array | Uint32Array | Uint8Array]>, metadata: Record<string, unknown>): Arrays {
  const arrays = new Map<string, NdArray>(Object.entries(columns).map(([name, [dtype, values]]) => [name, arrayOf(dtype, [values.length], new Uint8Array(values.buffer))]));
  return new Arrays(arrays, Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, JSON.stringify(value)])));
}

/** GET .../steps of 2,400 steps of two workers. */
export function sampleSteps(count = 2400): Arrays {
  const many = 2 * count;
  const column = (value: (step: number, worker: number) => number) => Float64Array.from({ length: many }, (_, i) => value(i >> 1, i & 1));
  return arraysOf({
    step: ['F64', column((step) => step)], worker: ['U32', Uint32Array.from({ length: many }, (_, i) => i & 1)],
    start_unix_ms: ['F64', column((step) => FROM + STEP_MS * step)], ms: ['F64', column((step, w) => 96 + 4 * noise(step + w))],
  }, { workers: ['rank-00000', 'rank-00001'] });
}

export interface SampleCalls {
  name: number;
  track: number;
  kind: number;
  depth: number;
  start: number;
  duration: number;
}

/** Calls as a step has them: each calls up to three others, and so on, on two tracks. */
export function nestedCalls(count: number): SampleCalls[] {
  const calls: SampleCalls[] = [];
  const add = (track: number, depth: number, start: number, duration: number) => {
    if (calls.length >= count) return;
    calls.push({ name: Math.floor(noise(calls.length) * NAMES.length), track, kind: track === 1 ? 1 : depth === 0 ? 2 : 0, depth, start, duration });
    const inner = depth < 4 ? Math.floor(1 + 3 * noise(calls.length + 0.5)) : 0;
    for (let i = 0; i < inner; ++i) add(track, depth + 1, start + (duration * (i + 0.08)) / inner, (duration * 0.84) / inner);
  };
  for (let i = 0; calls.length < count; ++i) add(i & 1, 0, (i >> 1) * 1e6 + 1e4 * (i & 1), 9e5);
  return calls;
}

/** GET .../calls. */
export function sampleCalls(calls: readonly SampleCalls[], step = 5): Arrays {
  const f64 = (of: (call: SampleCalls) => number) => Float64Array.from(calls, of);
  const u32 = (of: (call: SampleCalls) => number) => Uint32Array.from(calls, of);
  const end = Math.max(...calls.slice(-200).map(({ start, duration }) => start + duration));
  return arraysOf({
    name: ['U32', u32(({ name }) => name)], track: ['U32', u32(({ track }) => track)], kind: ['U8', Uint8Array.from(calls, ({ kind }) => kind)], depth: ['U32', u32(({ depth }) => depth)],
    start_ns: ['F64', f64(({ start }) => start)], duration_ns: ['F64', f64(({ duration }) => duration)],
    'memory.time_ns': ['F64', Float64Array.from({ length: 200 }, (_, i) => (end * i) / 200)], 'memory.bytes': ['F64', Float64Array.from({ length: 200 }, () => 1024)],
    'memory.total': ['F64', Float64Array.from({ length: 200 }, (_, i) => 1e8 + 5e7 * Math.sin(i / 20) ** 2)], 'memory.device': ['F64', new Float64Array(200)],
  }, { names: NAMES, tracks: ['thread 4711', 'thread 4712'], about: { worker: 'rank-00000', step } });
}

export const sampleWindows: RecordedStep[] = [5, 6, 7].flatMap((step) => [{ worker: 'rank-00000', step, calls: 1874, lost_calls: 0, has_stacks: true }, { worker: 'rank-00001', step, calls: 1874, lost_calls: 3, has_stacks: false }]);

/** GET .../flame: a track, and stacks below it. */
export function sampleFlame(): FlameAnswer {
  const names = ['rank-00000 thread 4711', ...NAMES];
  const nodes: FlameAnswer['nodes'] = [];
  const add = (parent: number, name: number, total: number, depth: number): void => {
    const at = nodes.length;
    const inner = depth > 4 || total < 200 ? 0 : 1 + Math.floor(3 * noise(at));
    const own = inner === 0 ? total : total * 0.1;
    nodes.push([parent, name, own, total, 1 + Math.floor(20 * noise(at + 0.3))]);
    let left = total - own;
    for (let i = 0; i < inner; ++i) {
      const part = i === inner - 1 ? left : left * (0.35 + 0.3 * noise(at + i));
      left -= part;
      add(at, 1 + Math.floor(noise(at * 3 + i) * NAMES.length), part, depth + 1);
    }
  };
  add(-1, 0, 200_000, 0);
  return { names, nodes };
}
