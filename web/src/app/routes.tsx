// Which address shows what. Screens come from one list (screens.ts) and are loaded when first asked for.
import { createBrowserRouter } from "react-router";

import { Shell } from "./Shell";
import { screens } from "./screens";

export const router = createBrowserRouter([
  {
    path: "/",
    element: <Shell />,
    children: screens.map(({ path, load }) => ({
      path,
      lazy: async () => ({ Component: (await load()).default }),
    })),
  },
]);
