// The attention views in a notebook: live as a widget (anywidget), and in a saved page that holds its numbers itself.
import { mountModes } from '../views/attention';
import type { AttentionMode } from '../views/attention/selection';
import type { RunRef, ViewState } from '../views/view';

import { type Archive, FrozenSource } from './frozen_source';
import { type Channel, RelaySource } from './relay_source';
import { Stage } from './stage';

/** The widget's model. `step` and `params` go both ways; `version` grows with news of the run. */
interface Model extends Channel {
  get(name: 'run'): RunRef;
  get(name: 'modes'): AttentionMode[];
  get(name: 'step'): number | null;
  get(name: 'params'): Record<string, string>;
  get(name: 'version'): number;
  set(name: string, value: unknown): void;
  save_changes(): void;
  on(event: 'msg:custom', listener: (message: unknown, buffers: DataView[]) => void): void;
  on(event: string, listener: () => void): void;
  off(event: 'msg:custom', listener: (message: unknown, buffers: DataView[]) => void): void;
  off(event: string, listener: () => void): void;
}

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const source = new RelaySource(model);
  const run = model.get('run');
  const stateNow = (): ViewState => ({ step: model.get('step'), params: model.get('params') });
  let lastState = JSON.stringify(stateNow());
  const stage = new Stage(el, {
    source, run, mount: mountModes(model.get('modes')), state: stateNow(),
    changed: (state) => {
      lastState = JSON.stringify(state);
      model.set('step', state.step);
      model.set('params', state.params);
      model.save_changes();
    },
  });
  const onState = (): void => {
    const state = stateNow();
    if (JSON.stringify(state) !== lastState) stage.update(state); // not an echo of what was chosen here
    lastState = JSON.stringify(state);
  };
  const onNews = (): void => source.notify({ run: run.id, version: model.get('version'), kind: 'steps' });
  model.on('change:step', onState);
  model.on('change:params', onState);
  model.on('change:version', onNews);
  return () => {
    model.off('change:step', onState);
    model.off('change:params', onState);
    model.off('change:version', onNews);
    stage.destroy();
    source.close();
  };
}

/** Puts the view of a saved page (trainwarden/notebook/page_html.py) in the place of its picture. */
function showFrozen(): void {
  const [view, held, numbers] = ['view', 'held', 'numbers'].map((id) => document.getElementById(id)!) as [HTMLElement, HTMLElement, HTMLElement];
  const { archive, state } = JSON.parse(held.textContent!) as { archive: Archive; state: ViewState };
  const source = new FrozenSource(archive, Uint8Array.from(atob(numbers.textContent!), (character) => character.charCodeAt(0)));
  view.replaceChildren();
  const modes: AttentionMode[] = source.hasVectors() ? ['head', 'neuron'] : ['head'];
  new Stage(view, { source, run: archive.run, mount: mountModes(modes), state });
}

if (document.documentElement.dataset['trainwarden'] === 'frozen') showFrozen();

export default { render };
