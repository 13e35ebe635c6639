// What the page costs and how fast it shows: sizes, first pictures, latency from a flush to a pixel, memory, Lighthouse.
//
//   npm run bench -- [--json] [NAME...]      names select the figures that begin with them
//
// Chromium runs without a GPU. Runs are made by tests/page/sample_runs.cc; the server is the built program. Each sample
// of a first picture is a new tab.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { type Browser, chromium as launcher, type Page } from '@playwright/test';

import { chromium } from '../playwright.config';
import { Runs, Server } from '../e2e/served_runs';
import { atLeast, atMost, type Figure, noGoal, print, quantile } from './figures';
import { PlainTab, pssMb } from './plain_tab';

const build = process.env.TRAINWARDEN_BUILD ?? '../build/release';
const ROUNDS = 7;
const LAYER_STEPS = 100_000;

type Measure = (browser: Browser) => Promise<Figure[]>;

/** A tab that has been let in. */
async function letIn(browser: Browser, server: Server): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
  const page = await context.newPage();
  await page.goto(server.url);
  await page.waitForSelector('main');
  return page;
}

async function withRuns<T>(prepare: (runs: Runs) => void, act: (server: Server, runs: Runs) => Promise<T>): Promise<T> {
  const runs = new Runs();
  try {
    prepare(runs);
    const server = await Server.start(runs.folder);
    try {
      return await act(server, runs);
    } finally {
      server.close();
    }
  } finally {
    runs.close();
  }
}

/** Milliseconds from the start of the navigation of a new document at `link` until `shown` holds after a frame. */
async function firstPicture(page: Page, server: Server, link: string, shown: string): Promise<number> {
  await page.goto('about:blank');
  await page.goto(server.at(link), { waitUntil: 'commit' });
  return page.evaluate(
    (selector) =>
      new Promise<number>((done, failed) => {
        const look = () => {
          if (document.querySelector(selector)) requestAnimationFrame(() => setTimeout(() => done(performance.now())));
          else if (performance.now() > 60_000) failed(new Error(`nothing like ${selector} within a minute`));
          else setTimeout(look, 2);
        };
        look();
      }),
    shown,
  );
}

async function firstPictures(browser: Browser, server: Server, link: string, shown: string): Promise<number[]> {
  const page = await letIn(browser, server);
  const samples: number[] = [];
  for (let round = 0; round <= ROUNDS; ++round) {
    const ms = await firstPicture(page, server, link, shown);
    if (round > 0) samples.push(ms); // the first fills the browser's own caches
  }
  await page.context().close();
  return samples;
}

// --- sizes ------------------------------------------------------------------------------------------------------------

function zippedKb(file: string): number {
  return gzipSync(readFileSync(file), { level: 9 }).length / 1024;
}

async function sizes(): Promise<Figure[]> {
  const page = join(build, 'web/page');
  const html = readFileSync(join(page, 'index.html'), 'utf8');
  const linked = [...html.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map((match) => match[1]!);
  const shell = ['index.html', ...linked].reduce((sum, file) => sum + zippedKb(join(page, file)), 0);
  const all = readdirSync(join(page, 'assets')).reduce((sum, file) => sum + zippedKb(join(page, 'assets', file)), zippedKb(join(page, 'index.html')));
  return [
    { name: 'page.shell_kb', samples: [shell], unit: 'KB', goal: atMost(60), limit: 'HTML, style and scripts that the first paint waits for, gzip' },
    { name: 'page.all_kb', samples: [all], unit: 'KB', goal: atMost(300), limit: 'every file of the page, gzip' },
  ];
}

// --- first pictures ---------------------------------------------------------------------------------------------------

async function firstChart(browser: Browser): Promise<Figure[]> {
  return withRuns(
    (runs) => runs.write('series', 'series', 1_000_000),
    async (server) => {
      const link = '#/run/series/scalars';
      const cold = await letIn(browser, server);
      const first = await firstPicture(cold, server, link, '[data-drawn]');
      await cold.context().close();
      const samples = await firstPictures(browser, server, link, '[data-drawn]');
      return [
        { name: 'page.first_chart_ms', samples, unit: 'ms', goal: atMost(200), limit: '1,000,000 points, a new document each time, the server has read the run before' },
        { name: 'page.first_chart_ms.cold', samples: [first], unit: 'ms', goal: atMost(500), limit: 'the first look after the server started and showed its list: it opens the run and reads 1,000,000 steps' },
      ];
    },
  );
}

async function layerMap(browser: Browser): Promise<Figure[]> {
  return withRuns(
    (runs) => runs.write('layers', 'layers', LAYER_STEPS),
    async (server) => {
      const link = '#/run/layers/layers?quantity=norm';
      const cold = await letIn(browser, server);
      const first = await firstPicture(cold, server, link, '.layers-view[data-drawn]');
      await cold.waitForFunction(() => document.querySelector('.ly-note')?.textContent === '', undefined, { timeout: 600_000 });
      const all = await cold.evaluate(() => performance.now());
      await cold.context().close();
      const samples = await firstPictures(browser, server, link, '.layers-view[data-drawn]');
      const what = `300 layers over ${LAYER_STEPS.toLocaleString('en')} steps`;
      return [
        { name: 'page.heatmap_ms', samples, unit: 'ms', goal: atMost(300), limit: `${what}, a new document each time, the server has read the run before` },
        { name: 'page.heatmap_ms.cold', samples: [first], unit: 'ms', goal: atMost(1_000), limit: `${what}, the first look after the server started: some steps from everywhere` },
        { name: 'page.heatmap_ms.all', samples: [all], unit: 'ms', goal: noGoal, limit: `${what}, until every step was read, ${(300 * LAYER_STEPS).toLocaleString('en')} statistics` },
      ];
    },
  );
}

async function tensorList(browser: Browser): Promise<Figure[]> {
  return withRuns(
    (runs) => runs.write('tensors', 'tensors', 12_345),
    async (server) => [
      { name: 'page.tensor_list_ms', samples: await firstPictures(browser, server, '#/run/tensors/tensors', '[data-drawn]'), unit: 'ms', goal: atMost(200), limit: '12,345 tensors, a new document each time' },
    ],
  );
}

async function runList(browser: Browser): Promise<Figure[]> {
  return withRuns(
    (runs) => runs.write('many', '.', 1_000),
    async (server) => [
      { name: 'page.run_list_ms', samples: await firstPictures(browser, server, '#/', '[data-runs="1000"]'), unit: 'ms', goal: atMost(300), limit: '1,000 runs, a new document each time, the server has read them before' },
    ],
  );
}

/** With as many columns as the list has values: until the row that is first by the new order is shown. */
async function sortRuns(browser: Browser): Promise<Figure[]> {
  const COLUMNS = Array.from({ length: 20 }, (_, i) => `parameter_${i}`);
  return withRuns(
    (runs) => {
      runs.write('many', '.', 1_000);
      for (const name of readdirSync(runs.folder)) addLabels(join(runs.folder, name), COLUMNS);
    },
    async (server) => {
      const page = await letIn(browser, server);
      await page.goto(server.at(`#/?columns=${COLUMNS.join(',')}`));
      await page.waitForSelector('[data-runs="1000"]');
      await page.waitForFunction(() => !document.body.textContent!.includes('still being read'), undefined, { timeout: 240_000 });
      const samples: number[] = [];
      for (let round = 0; round <= 2 * ROUNDS; ++round) {
        const ms = await page.evaluate(async (column) => {
          const head = [...document.querySelectorAll<HTMLElement>('th button')].find(({ title }) => title === column)!;
          const order = () => head.closest('th')!.getAttribute('aria-sort');
          const before = order();
          const began = performance.now();
          head.click();
          while (order() === before) await new Promise((done) => setTimeout(done));
          await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
          return performance.now() - began;
        }, COLUMNS[round % COLUMNS.length]!);
        if (round > 0) samples.push(ms);
      }
      await page.context().close();
      return [{ name: 'page.sort_1k_runs_ms', samples, unit: 'ms', goal: atMost(100), limit: '1,000 runs, 20 columns, from the click on the head of a column to the frame that shows the new order' }];
    },
  );
}

/** Numbers in an order of their own for each label. */
function addLabels(run: string, names: readonly string[]): void {
  const file = join(run, 'run.json');
  const known = JSON.parse(readFileSync(file, 'utf8')) as { labels: Record<string, string> };
  const seed = Number(known.labels['seed']);
  const labels = Object.fromEntries(names.map((name, i) => [name, String(((seed + 1) * (2 * i + 3)) % 997)]));
  writeFileSync(file, JSON.stringify({ ...known, labels: { ...known.labels, ...labels } }));
}

// --- frames -----------------------------------------------------------------------------------------------------------

/** The view draws anew when the cursor moves between the two steps of the run; the time until it has. */
async function headFrame(browser: Browser): Promise<Figure[]> {
  return withRuns(
    (runs) => runs.write('head', 'head', 512),
    async (server) => {
      const page = await letIn(browser, server);
      await page.goto(server.at('#/run/head/attention?view=head&first=512&step=0'));
      await page.waitForSelector('[data-drawn]');
      const samples: number[] = [];
      for (let round = 0; round <= 2 * ROUNDS; ++round) {
        const ms = await page.evaluate(async (step) => {
          const view = document.querySelector<HTMLElement>('[data-drawn]')!;
          const before = performance.now();
          location.hash = location.hash.replace(/step=\d+/, `step=${step}`);
          while (view.dataset.step !== String(step)) await new Promise((done) => setTimeout(done, 1));
          await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
          return performance.now() - before;
        }, (round + 1) % 2);
        if (round > 1) samples.push(ms);
      }
      await page.context().close();
      return [
        { name: 'page.head_frame_ms', samples, unit: 'ms', goal: atMost(100), limit: 'one head, 512 tokens, from the change of step to the next frame, prefetched' },
      ];
    },
  );
}

/** Zoomed by the wheel in each frame. Without the limit of the screen, which would hide what is left of a frame. */
async function overlayFrames(): Promise<Figure[]> {
  const RUNS = 50;
  const names = Array.from({ length: RUNS }, (_, i) => `run-${String(i).padStart(2, '0')}`);
  const unlimited = await launcher.launch({ ...chromium, args: [...chromium.args, '--disable-frame-rate-limit', '--disable-gpu-vsync'] });
  try {
    return await withRuns(
      (runs) => names.forEach((name) => runs.write('series', name, 2_000)),
      async (server) => {
        const page = await letIn(unlimited, server);
        await page.goto(server.at(`#/run/${names[0]}/scalars?panel=loss&runs=${names.slice(1).join('%0A')}`));
        await page.waitForFunction((count) => document.querySelectorAll('tr[data-series]').length === count, RUNS, { timeout: 60_000 });
        const samples: number[] = [];
        for (let round = 0; round <= ROUNDS; ++round) {
          const fps = await page.evaluate(zoomingFrames, 1_000);
          if (round > 0) samples.push(fps);
        }
        return [{ name: 'page.overlay_50_runs_fps', samples, unit: 'fps', goal: atLeast(60), limit: '50 runs of 2,000 points in one chart, zoomed by the wheel in each frame, drawn and composited by software' }];
      },
    );
  } finally {
    await unlimited.close();
  }
}

/** In the page: frames a second for so long, in and out again until all is shown as at the beginning. */
async function zoomingFrames(forMs: number): Promise<number> {
  const over = document.querySelector<HTMLElement>('.u-over')!;
  const { left, top, width, height } = over.getBoundingClientRect();
  const began = performance.now();
  let frames = 0;
  for (; frames % 20 !== 0 || performance.now() - began < forMs; ++frames) {
    await new Promise((done) => requestAnimationFrame(done));
    over.dispatchEvent(new WheelEvent('wheel', { deltaY: frames % 20 < 10 ? -100 : 100, clientX: left + width / 2, clientY: top + height / 2, cancelable: true, bubbles: true }));
  }
  return (1000 * frames) / (performance.now() - began);
}

async function liveLatency(browser: Browser): Promise<Figure[]> {
  return withRuns(
    () => {},
    async (server, runs) => {
      const run = runs.live('live');
      await run.steps(5);
      const page = await letIn(browser, server);
      await page.goto(server.at('#/run/live/scalars'));
      await page.waitForSelector('[data-drawn][data-step]');
      await page.evaluate(() => {
        const seen = ((window as unknown as { seen: [number, number][] }).seen = []) as [number, number][];
        const view = document.querySelector<HTMLElement>('[data-drawn]')!;
        new MutationObserver(() =>
          requestAnimationFrame(() => setTimeout(() => seen.push([Number(view.dataset.step), Date.now()]))),
        ).observe(view, { attributeFilter: ['data-step'] });
      });
      const samples: number[] = [];
      for (let i = 0; i < 60; ++i) {
        const { flushedMs } = await run.step();
        await page.waitForFunction((count) => (window as unknown as { seen: unknown[] }).seen.length > count, i, { polling: 5 });
        const at = await page.evaluate((n) => (window as unknown as { seen: [number, number][] }).seen[n]![1], i);
        samples.push(at - flushedMs);
        await new Promise((done) => setTimeout(done, 40 + ((i * 37) % 90)));
      }
      await page.context().close();
      const limit = 'from the flush of a step to the frame that shows it; the server looks every 20 ms, a frame is 16 ms';
      return [
        { name: 'page.flush_to_pixel_ms', samples, unit: 'ms', goal: atMost(50), limit },
        { name: 'page.flush_to_pixel_ms.p99', samples: [quantile(samples, 0.99)], unit: 'ms', goal: atMost(100), limit },
      ];
    },
  );
}

// --- the profiler -----------------------------------------------------------------------------------------------------

/** A safetensors document of `count` calls, four within each other on each of two threads. */
function manyCalls(count: number): Buffer {
  const columns = { name: new Uint32Array(count), track: new Uint16Array(count), kind: new Uint8Array(count), depth: new Uint16Array(count), start_ns: new Float64Array(count), duration_ns: new Float64Array(count), sequence: new Float64Array(count).fill(-1) };
  for (let i = 0; i < count; ++i) {
    const depth = i % 4;
    columns.name[i] = (i * 7) % 40;
    columns.track[i] = i < count / 2 ? 0 : 1;
    columns.depth[i] = depth;
    columns.kind[i] = columns.track[i]!;
    columns.start_ns[i] = Math.floor((i % (count / 2)) / 4) * 1000 + 50 * depth;
    columns.duration_ns[i] = 900 - 100 * depth;
  }
  const dtypes: Record<string, string> = { name: 'U32', track: 'U16', kind: 'U8', depth: 'U16' };
  const names = Array.from({ length: 40 }, (_, i) => `aten::operator_${i}`);
  const header: Record<string, unknown> = { __metadata__: { names: JSON.stringify(names), tracks: JSON.stringify(['thread 1', 'thread 2']), about: JSON.stringify({ worker: 'rank-00000', step: 1 }) } };
  let offset = 0;
  for (const [name, { byteLength }] of Object.entries(columns)) {
    header[name] = { dtype: dtypes[name] ?? 'F64', shape: [count], data_offsets: [offset, offset + byteLength] };
    offset += byteLength;
  }
  const text = JSON.stringify(header);
  const head = Buffer.alloc(8);
  head.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([head, Buffer.from(text), ...Object.values(columns).map((each) => Buffer.from(each.buffer))]);
}

/** The calls come from this program, not from a run: what the page does with them is measured, from its request on. */
async function openCalls(browser: Browser): Promise<Figure[]> {
  const CALLS = 1_000_000;
  return withRuns(
    (runs) => runs.write('training'),
    async (server) => {
      const page = await letIn(browser, server);
      const body = manyCalls(CALLS);
      const answer = (json: unknown) => ({ contentType: 'application/json', body: JSON.stringify(json) });
      await page.route('**/profile/windows', (route) => route.fulfill(answer([{ worker: 'rank-00000', step: 1, calls: CALLS, lost_calls: 0, has_stacks: false }])));
      await page.route('**/profile/calls?*', (route) => route.fulfill({ contentType: 'application/octet-stream', body }));
      const samples: number[] = [];
      for (let round = 0; round <= ROUNDS; ++round) {
        await page.goto('about:blank');
        await page.goto(server.at('#/run/training/system'));
        await page.locator('[data-part="window"]').scrollIntoViewIfNeeded();
        await page.getByRole('button', { name: /^Show the 1,000,000 calls/ }).click();
        await page.waitForSelector('[data-open-ms]', { timeout: 60_000 });
        const ms = await page.evaluate(() => Number(document.querySelector<HTMLElement>('[data-open-ms]')!.dataset['openMs']));
        if (round > 0) samples.push(ms);
      }
      await page.context().close();
      return [{ name: 'profiler.open_1m_ms', samples, unit: 'ms', goal: atMost(2_000), limit: '1,000,000 calls (30 MB), from the request of the page until they are drawn, without the time of the server' }];
    },
  );
}

// --- memory -----------------------------------------------------------------------------------------------------------

async function memory(browser: Browser): Promise<Figure[]> {
  return withRuns(
    () => {},
    async (server, runs) => {
      const run = runs.live('live');
      await run.step();
      const page = await letIn(browser, server);
      await page.goto(server.at('#/run/live/scalars'));
      await page.waitForSelector('[data-drawn][data-step]');
      const STEPS = 7_200; // an hour at two steps a second
      await run.steps(STEPS);
      await page.waitForFunction((last) => Number(document.querySelector<HTMLElement>('[data-drawn]')?.dataset.step) >= last, STEPS, { timeout: 60_000 });
      const cdp = await browser.newBrowserCDPSession();
      const { processInfo } = (await cdp.send('SystemInfo.getProcessInfo')) as { processInfo: { type: string; id: number }[] };
      const tabs = processInfo.filter((p) => p.type === 'renderer').map((p) => pssMb(p.id));
      await page.context().close();
      return [
        { name: 'page.tab_mb', samples: [Math.max(...tabs)], unit: 'MB', goal: atMost(300), limit: `the tab's process after ${STEPS} steps replayed at full speed, ${existsSync('/proc') ? 'proportional set size' : ''}` },
        { name: 'page.server_mb', samples: [pssMb(server.pid)], unit: 'MB', goal: noGoal, limit: 'the server at the same moment' },
      ];
    },
  );
}

/**
 * An hour of a tab, shortened: steps come twenty a second in place of two, each is drawn, and there are a third as many. Without
 * Playwright, which has the browser keep all answers.
 */
async function hourTab(): Promise<Figure[]> {
  return withRuns(
    () => {},
    async (server, runs) => {
      const run = runs.live('live');
      await run.steps(20);
      const tab = await PlainTab.open(`${server.url}/run/live/scalars`);
      try {
        const drawn = "Number(document.querySelector('[data-drawn]')?.dataset.drawn ?? 0)";
        await tab.until(`${drawn} > 0`);
        const quarter = async () => {
          const looks: { heap: number; tab: number }[] = [];
          for (let i = 1; i <= 600; ++i) {
            await Promise.all([run.step(), new Promise((done) => setTimeout(done, 50))]);
            if (i % 150 === 0) looks.push(await tab.megabytes());
          }
          return { heap: Math.min(...looks.map(({ heap }) => heap)), tab: Math.min(...looks.map(({ tab: all }) => all)), most: Math.max(...looks.map(({ tab: all }) => all)) };
        };
        await quarter();
        await quarter();
        const [third, last] = [await quarter(), await quarter()];
        const limit = `the tab's process, proportional set size, over panels of a live run; 2,400 steps, ${await tab.evaluate<number>(drawn)} drawings, heap of the scripts ${last.heap.toFixed(1)} MB`;
        return [
          { name: 'page.hour_tab_mb', samples: [Math.max(third.most, last.most)], unit: 'MB', goal: atMost(200), limit },
          { name: 'page.hour_tab_mb.growth', samples: [last.tab - third.tab], unit: 'MB', goal: atMost(5), limit: `from the least of the third quarter to that of the last; heap of the scripts ${(last.heap - third.heap).toFixed(2)} MB` },
        ];
      } finally {
        await tab.close();
      }
    },
  );
}

// --- Lighthouse -------------------------------------------------------------------------------------------------------

/** Lighthouse is large, so it is installed beside the build when this figure is wanted. */
async function lighthouse(): Promise<Figure[]> {
  const home = process.env.TRAINWARDEN_LIGHTHOUSE ?? '../build/lighthouse';
  if (!existsSync(join(home, 'node_modules/lighthouse'))) {
    execFileSync('npm', ['install', '--prefix', home, '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error', 'lighthouse@12.8.2'], { stdio: 'inherit' });
  }
  return withRuns(
    (runs) => runs.write('training'),
    async (server) => {
      const scores: Record<string, number[]> = { performance: [], accessibility: [], 'best-practices': [] };
      for (let round = 0; round < 3; ++round) {
        const report = execFileSync(
          process.execPath,
          [
            join(home, 'node_modules/lighthouse/cli/index.js'), `${server.url}/run/training/scalars`, '--quiet', '--output=json', '--preset=desktop',
            `--only-categories=${Object.keys(scores).join(',')}`,
            `--chrome-flags=--headless ${chromium.args.join(' ')}`,
          ],
          { encoding: 'utf8', env: { ...process.env, CHROME_PATH: chromium.executablePath }, maxBuffer: 1 << 28 },
        );
        const { categories } = JSON.parse(report) as { categories: Record<string, { score: number }> };
        for (const [name, samples] of Object.entries(scores)) samples.push(100 * categories[name]!.score);
      }
      const limit = 'desktop preset, over loopback, without a GPU';
      return [
        { name: 'page.lighthouse_performance', samples: scores['performance']!, unit: '', goal: atLeast(95), limit },
        { name: 'page.lighthouse_accessibility', samples: scores['accessibility']!, unit: '', goal: atLeast(100), limit },
        { name: 'page.lighthouse_best_practices', samples: scores['best-practices']!, unit: '', goal: noGoal, limit },
      ];
    },
  );
}

const MEASURES: Record<string, Measure> = {
  'page.shell_kb page.all_kb': sizes,
  'page.first_chart_ms': firstChart,
  'page.flush_to_pixel_ms': liveLatency,
  'page.heatmap_ms': layerMap,
  'page.tensor_list_ms': tensorList,
  'page.run_list_ms': runList,
  'page.sort_1k_runs_ms': sortRuns,
  'page.head_frame_ms': headFrame,
  'page.overlay_50_runs_fps': overlayFrames,
  'profiler.open_1m_ms': openCalls,
  'page.tab_mb page.server_mb': memory,
  'page.hour_tab_mb': hourTab,
  'page.lighthouse_performance page.lighthouse_accessibility': lighthouse,
};

const wanted = process.argv.slice(2).filter((argument) => argument !== '--json');
const json = process.argv.includes('--json');
const browser = await launcher.launch(chromium);
let failed = false;
for (const [names, measure] of Object.entries(MEASURES)) {
  const asked = names.split(' ').some((name) => wanted.length === 0 || wanted.some((prefix) => name.startsWith(prefix)));
  if (!asked) continue;
  try {
    for (const figure of await measure(browser)) print(figure, json);
  } catch (error) {
    console.error(`${names}: ${error instanceof Error ? error.message : String(error)}`);
    failed = true;
  }
}
await browser.close();
process.exit(failed ? 1 : 0);
