// FlameGraph: time by the stack of calls, widest first. A click enlarges a frame; arrows walk through them.
import { shown } from '../../data/text';
import { Picture, type Frame } from '../../draw/canvas';
import { categoryOf } from '../../draw/colours';
import { count } from '../../draw/numbers';
import { h } from '../../draw/dom';
import { themeOf, type Theme } from '../../draw/theme';
import { fitting } from './fitting';
import { childrenOf, layoutFlame, searchFlame, type FlameFrame, type FlameTree } from './flame_layout';
import { percent, time } from './words';

const ROW = 19;
const MOST_ROWS = 40;

export class FlameGraph {
  readonly box = h('div', { class: 'flame', tabindex: 0, role: 'application', 'aria-roledescription': 'flame graph', 'aria-label': 'Flame graph',
    'aria-description': 'Down and up go into a frame and out of it, left and right to its neighbours, Enter enlarges it, 0 shows all' });
  private readonly picture: Picture;
  private tree: FlameTree | null = null;
  private frames: FlameFrame[] = [];
  private zoom = 0;
  private at = 0;
  private found: ReadonlySet<number> = new Set();

  constructor(
    private readonly events: { chosen(node: number, aloud: boolean): void; zoomed(node: number): void },
  ) {
    this.picture = new Picture(this.box, 'Flame graph', (frame) => this.draw(frame, themeOf(this.box)));
    this.box.addEventListener('pointermove', (event) => this.point(event));
    this.box.addEventListener('click', (event) => this.click(event));
    this.box.addEventListener('keydown', (event) => this.key(event));
  }

  show(tree: FlameTree, label: string): void {
    this.tree = tree;
    this.zoom = this.at = 0;
    this.picture.describe(label);
    this.box.setAttribute('aria-label', label);
    this.fit();
  }

  /** The share of what is shown that fits. */
  search(text: string): number {
    if (!this.tree) return 0;
    const { names, share } = searchFlame(this.tree, this.zoom, text);
    this.found = names;
    this.picture.schedule();
    return share;
  }

  zoomTo(node: number): void {
    this.zoom = this.at = node;
    this.events.zoomed(node);
    this.fit();
  }

  png(): Promise<Blob> {
    return this.picture.png();
  }

  destroy(): void {
    this.picture.destroy();
  }

  /** In words: "aten::mm: 12.3 ms, 34 % of all, 120 calls, 1.2 ms of its own". */
  inWords(node: number): string {
    const { tree } = this;
    if (!tree) return '';
    const name = node === 0 ? 'all' : (tree.names[tree.name[node]!] ?? '');
    return `${name}: ${time(tree.total[node]! / 1000)}, ${percent(tree.total[node]! / (tree.total[0] || 1))} of all, ${count(tree.calls[node]!)} calls, ${time(tree.self[node]! / 1000)} of its own`;
  }

  private fit(): void {
    if (!this.tree) return;
    const width = this.box.clientWidth || 900;
    this.frames = layoutFlame(this.tree, this.zoom, 0.75 / width).filter(({ depth }) => depth < MOST_ROWS);
    const rows = 1 + this.frames.reduce((most, { depth }) => Math.max(most, depth), 0);
    this.box.style.height = `${rows * ROW}px`;
    this.picture.schedule();
  }

  private draw({ context, width }: Frame, theme: Theme): void {
    const { tree } = this;
    if (!tree) return;
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    for (const { node, depth, from, to } of this.frames) {
      const name = tree.name[node]!;
      const category = categoryOf(node === 0 || tree.parent[node] === 0 ? 7 : name);
      const [x, wide] = [from * width, (to - from) * width];
      const dim = (this.found.size > 0 && !this.found.has(name)) || (node !== this.zoom && depth < this.depthOf(this.zoom));
      context.globalAlpha = dim ? 0.25 : 1;
      context.fillStyle = theme.dark ? category.dark : category.light;
      context.fillRect(x, depth * ROW, Math.max(0.7, wide - 1), ROW - 1);
      context.globalAlpha = 1;
      if (node === this.at && document.activeElement === this.box) {
        context.strokeStyle = theme.text;
        context.lineWidth = 2;
        context.strokeRect(x + 1, depth * ROW + 1, Math.max(1, wide - 3), ROW - 3);
      }
      if (wide < 34) continue;
      context.fillStyle = dim ? theme.text : theme.dark ? '#0b1620' : '#ffffff';
      const text = node === 0 ? `all ${time(tree.total[0]! / 1000)}` : `${shown(tree.names[name] ?? '')}`;
      context.fillText(fitting(text, Math.floor((wide - 8) / 5.6)), x + 4, depth * ROW + ROW / 2, wide - 6);
    }
  }

  private depthOf(node: number): number {
    return this.frames.find((frame) => frame.node === node)?.depth ?? 0;
  }

  private frameAt(event: MouseEvent): FlameFrame | undefined {
    const box = this.box.getBoundingClientRect();
    const [x, depth] = [(event.clientX - box.left) / box.width, Math.floor((event.clientY - box.top) / ROW)];
    return this.frames.find((frame) => frame.depth === depth && x >= frame.from && x < frame.to);
  }

  private point(event: MouseEvent): void {
    const frame = this.frameAt(event);
    if (frame) this.events.chosen(frame.node, false);
  }

  private click(event: MouseEvent): void {
    const frame = this.frameAt(event);
    if (frame) this.zoomTo(frame.node);
  }

  private key(event: KeyboardEvent): void {
    const { tree } = this;
    if (!tree || event.ctrlKey || event.metaKey || event.altKey) return;
    const neighbour = (by: number) => {
      const all = childrenOf(tree, tree.parent[this.at]!);
      return this.at === 0 ? undefined : all[all.indexOf(this.at) + by];
    };
    const does: Record<string, () => number | undefined> = {
      ArrowDown: () => childrenOf(tree, this.at)[0], ArrowUp: () => (this.at === 0 ? undefined : tree.parent[this.at]),
      ArrowRight: () => neighbour(1), ArrowLeft: () => neighbour(-1),
    };
    const move = does[event.key];
    if (move) {
      const next = move();
      if (next !== undefined) this.walk(next);
    } else if (event.key === 'Enter') this.zoomTo(this.at);
    else if (event.key === '0') this.zoomTo(0);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private walk(node: number): void {
    this.at = node;
    this.events.chosen(node, true);
    this.picture.schedule();
  }
}
