// Layers of a run over its steps.
import type { MountView } from '../view';

import { LayersView } from './layers_view';
import './layers.css';

export const mount: MountView = (element, context, state) => new LayersView(element, context, state);
