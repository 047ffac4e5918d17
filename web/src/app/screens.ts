// The screens of the app, in the order of the navigation: a new one is a line here and a folder under
// screens/. Outreach and campaigns will find their place in the same list.
import {
  IconActivityHeartbeat,
  IconAlertCircle,
  IconCalendar,
  IconFileText,
  IconPencilPlus,
  IconPlugConnected,
  IconServer,
  IconSettings,
  IconStack2,
  IconSubtask,
  IconTransfer,
  type Icon,
} from "@tabler/icons-react";
import type { ComponentType } from "react";

import { useThingCount } from "../screens/attention/useThings";
import { t } from "../messages/app";

export interface Screen {
  path: string;
  name: string;
  icon: Icon;
  load: () => Promise<{ default: ComponentType }>;
  /** How many things wait on it: shown beside its name where there are any. */
  badge?: () => number | undefined;
  /** Only for those who may write. */
  editors?: boolean;
  /** Only for owners of the installation. */
  instance?: boolean;
}

export const screens: readonly Screen[] = [
  { path: "queue", name: t("queue"), icon: IconStack2, load: () => import("../screens/queue/Queue") },
  { path: "compose", name: t("newPost"), icon: IconPencilPlus, editors: true, load: () => import("../screens/composer/Compose") },
  { path: "calendar", name: t("calendar"), icon: IconCalendar, load: () => import("../screens/calendar/Calendar") },
  { path: "drafts", name: t("drafts"), icon: IconFileText, load: () => import("../screens/drafts/Drafts") },
  {
    path: "attention",
    name: t("needsAttention"),
    icon: IconAlertCircle,
    badge: useThingCount,
    load: () => import("../screens/attention/Attention"),
  },
  { path: "accounts", name: t("accounts"), icon: IconPlugConnected, load: () => import("../screens/accounts/Accounts") },
  { path: "data", name: t("importAndExport"), icon: IconTransfer, load: () => import("../screens/data/Data") },
  { path: "activity", name: t("activity"), icon: IconActivityHeartbeat, load: () => import("../screens/activity/Activity") },
  { path: "jobs", name: t("jobs"), icon: IconSubtask, instance: true, load: () => import("../screens/jobs/Jobs") },
  { path: "system", name: t("system"), icon: IconServer, instance: true, load: () => import("../screens/system/System") },
  { path: "settings", name: t("settings"), icon: IconSettings, load: () => import("../screens/settings/Settings") },
];
