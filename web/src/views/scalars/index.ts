// Scalars: numbers over steps, many series together.
import './scalars.css';

import type { MountView } from '../view';
import { ScalarsView } from './scalars_view';

export const mount: MountView = (element, context, state) => new ScalarsView(element, context, state);
