// What a view is called where it is described,
// after the stock service. Knows no request.
import type { Route } from './routes.ts';

/** A route that leads to a view. */
type ViewRoute = Extract<Route, { kind: 'index' | 'root' | 'list' | 'record' }>;

/** The name of a view, such as `Observations List` (design: Responses). */
export function viewName(view: ViewRoute): string {
  switch (view.kind) {
    case 'index':
      return 'Index';
    case 'root':
      return 'Api Root';
    case 'list':
      return `${view.collection.title} List`;
    case 'record':
      return `${view.collections[0]!.title} Instance`;
  }
}
