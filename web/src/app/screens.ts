// The screens of the app, in the order of the navigation: a new one is a line here and a folder under
// screens/. Outreach and campaigns will find their place in the same list.
import { IconCalendar, IconPlugConnected, IconStack2, type Icon } from "@tabler/icons-react";
import type { ComponentType } from "react";

export interface Screen {
  path: string;
  name: string;
  icon: Icon;
  load: () => Promise<{ default: ComponentType }>;
}

export const screens: readonly Screen[] = [
  { path: "queue", name: "Queue", icon: IconStack2, load: () => import("../screens/queue/Queue") },
  { path: "calendar", name: "Calendar", icon: IconCalendar, load: () => import("../screens/calendar/Calendar") },
  { path: "accounts", name: "Accounts", icon: IconPlugConnected, load: () => import("../screens/accounts/Accounts") },
];
