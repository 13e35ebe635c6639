// The attention view of the page.
import type { MountView } from '../view';

import './attention.css';
import { AttentionView, type Panes } from './attention_view';

const panes: Panes = {
  head: async () => {
    const { HeadPane } = await import('./head_pane');
    return (element, context) => new HeadPane(element, context);
  },
};

export const mount: MountView = (element, context, state) => new AttentionView(element, context, state, panes);
