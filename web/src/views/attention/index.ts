// The attention view of the page.
import type { MountView } from '../view';

import './attention.css';
import { AttentionView, type Panes } from './attention_view';
import type { AttentionMode } from './selection';

const panes: Panes = {
  model: async () => {
    const { ModelPane } = await import('./model_pane');
    return (element, context) => new ModelPane(element, context);
  },
  head: async () => {
    const { HeadPane } = await import('./head_pane');
    return (element, context) => new HeadPane(element, context);
  },
  arcs: async () => {
    const [{ HeadPane }, { ArcPicture }] = await Promise.all([import('./head_pane'), import('./arc_picture')]);
    return (element, context) => new HeadPane(element, context, (handlers, drawn) => new ArcPicture(handlers, drawn));
  },
  matrix: async () => {
    const { MatrixPane } = await import('./matrix_pane');
    return (element, context) => new MatrixPane(element, context);
  },
  text: async () => {
    const { TextPane } = await import('./text_pane');
    return (element, context) => new TextPane(element, context);
  },
  neuron: async () => {
    const { NeuronPane } = await import('./neuron_pane');
    return (element, context) => new NeuronPane(element, context);
  },
  mapping: async () => {
    const { MappingPane } = await import('./mapping_pane');
    return (element, context) => new MappingPane(element, context);
  },
};

/** With some of the modes, for who has no answers for the others. */
export const mountModes = (modes: readonly AttentionMode[]): MountView => (element, context, state) =>
  new AttentionView(element, context, state, Object.fromEntries(modes.map((mode) => [mode, panes[mode]])));

export const mount: MountView = (element, context, state) => new AttentionView(element, context, state, panes);
