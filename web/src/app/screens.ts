// The screens of the app, in groups and in the order of the navigation: a new one is a line here and a folder under
// screens/. The first group has no name: it is about everything.
import {
  IconActivityHeartbeat,
  IconAddressBook,
  IconAlertCircle,
  IconCalendar,
  IconFileText,
  IconInbox,
  IconPencilPlus,
  IconPlugConnected,
  IconRoute,
  IconServer,
  IconSettings,
  IconSpeakerphone,
  IconStack2,
  IconSubtask,
  IconTemplate,
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

export interface ScreenGroup {
  /** Left out where its one screen says it all. */
  name?: string;
  screens: readonly Screen[];
}

export const screenGroups: readonly ScreenGroup[] = [
  {
    screens: [
      {
        path: "attention",
        name: t("needsAttention"),
        icon: IconAlertCircle,
        badge: useThingCount,
        load: () => import("../screens/attention/Attention"),
      },
      { path: "activity", name: t("activity"), icon: IconActivityHeartbeat, load: () => import("../screens/activity/Activity") },
    ],
  },
  {
    name: t("publish"),
    screens: [
      { path: "queue", name: t("queue"), icon: IconStack2, load: () => import("../screens/queue/Queue") },
      { path: "compose", name: t("newPost"), icon: IconPencilPlus, editors: true, load: () => import("../screens/composer/Compose") },
      { path: "calendar", name: t("calendar"), icon: IconCalendar, load: () => import("../screens/calendar/Calendar") },
      { path: "drafts", name: t("drafts"), icon: IconFileText, load: () => import("../screens/drafts/Drafts") },
    ],
  },
  {
    name: t("outreach"),
    screens: [
      { path: "sequences", name: t("sequences"), icon: IconRoute, load: () => import("../screens/sequences/Sequences") },
      { path: "inbox", name: t("inbox"), icon: IconInbox, load: () => import("../screens/inbox/Inbox") },
      { path: "contacts", name: t("contacts"), icon: IconAddressBook, load: () => import("../screens/contacts/Contacts") },
      { path: "templates", name: t("templates"), icon: IconTemplate, load: () => import("../screens/templates/Templates") },
    ],
  },
  { screens: [{ path: "campaigns", name: t("campaigns"), icon: IconSpeakerphone, load: () => import("../screens/campaigns/Campaigns") }] },
  { screens: [{ path: "accounts", name: t("accounts"), icon: IconPlugConnected, load: () => import("../screens/accounts/Accounts") }] },
  {
    name: t("admin"),
    screens: [
      { path: "jobs", name: t("jobs"), icon: IconSubtask, instance: true, load: () => import("../screens/jobs/Jobs") },
      { path: "system", name: t("system"), icon: IconServer, instance: true, load: () => import("../screens/system/System") },
      { path: "data", name: t("importAndExport"), icon: IconTransfer, load: () => import("../screens/data/Data") },
      { path: "settings", name: t("settings"), icon: IconSettings, load: () => import("../screens/settings/Settings") },
    ],
  },
];

export const screens: readonly Screen[] = screenGroups.flatMap((group) => group.screens);

/** Where one begins. */
export const HOME = "queue";
