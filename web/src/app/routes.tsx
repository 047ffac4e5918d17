// Which address shows what. Screens come from one list (screens.ts) and are loaded when first asked for.
import { createBrowserRouter, Navigate, redirect, type LoaderFunctionArgs } from "react-router";

import { api, take } from "../api/client";
import { meQuery } from "../api/me";
import { Problem } from "../api/problem";
import { queries } from "../api/queries";
import { Failed } from "../ui/Failed";
import { Loading } from "../ui/Loading";
import { HOME, screens } from "./screens";
import { Shell } from "./Shell";

/** Let nobody in who is not signed in; an empty installation begins with its first owner. */
async function enter({ request }: LoaderFunctionArgs) {
  try {
    return await queries.ensureQueryData(meQuery);
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 401) throw error;
    const { needed } = await take(api.GET("/api/v1/auth/first-start"));
    const from = new URL(request.url);
    const next = encodeURIComponent(from.pathname + from.search);
    throw redirect(needed ? "/first-start" : `/sign-in?next=${next}`);
  }
}

export const router = createBrowserRouter([
  { path: "/sign-in", lazy: async () => ({ Component: (await import("../screens/enter/SignIn")).default }) },
  { path: "/first-start", lazy: async () => ({ Component: (await import("../screens/enter/FirstStart")).default }) },
  { path: "/forgotten", lazy: async () => ({ Component: (await import("../screens/enter/Forgotten")).default }) },
  { path: "/reset-password", lazy: async () => ({ Component: (await import("../screens/enter/ResetPassword")).default }) },
  { path: "/join", lazy: async () => ({ Component: (await import("../screens/enter/Join")).default }) },
  // Links of mails name no workspace: find the one that the thing is in.
  ...["/settings/notices", "/deliveries/:id", "/accounts/:id/queue", "/accounts/:id/reconnect"].map((path) => ({
    path,
    loader: async (at: LoaderFunctionArgs) => {
      const me = await enter(at);
      const { wayTo } = await import("../screens/enter/wayTo");
      return redirect(await wayTo(me, path, at.params.id ?? ""));
    },
    element: <Loading />,
    errorElement: <Failed />,
    HydrateFallback: Loading,
  })),
  {
    path: "/",
    loader: async (at) => {
      const me = await enter(at);
      const first = me.workspaces[0];
      return redirect(first === undefined ? "/no-workspace" : `/w/${first.workspace_id}/${HOME}`);
    },
    element: <Loading />,
    errorElement: <Failed />,
    HydrateFallback: Loading,
  },
  {
    path: "/no-workspace",
    loader: enter,
    lazy: async () => ({ Component: (await import("../screens/enter/NoWorkspace")).default }),
    errorElement: <Failed />,
    HydrateFallback: Loading,
  },
  {
    path: "/connect/callback",
    loader: enter,
    lazy: async () => ({ Component: (await import("../screens/accounts/Callback")).default }),
    errorElement: <Failed />,
    HydrateFallback: Loading,
  },
  {
    path: "/w/:workspaceId",
    loader: enter,
    element: <Shell />,
    errorElement: <Failed />,
    HydrateFallback: Loading,
    children: [
      { index: true, element: <Navigate to={HOME} replace /> },
      ...screens.map(({ path, load }) => ({
        path: `${path}/*`,
        errorElement: <Failed />,
        lazy: async () => ({ Component: (await load()).default }),
      })),
    ],
  },
]);
