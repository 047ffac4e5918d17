// Settings: oneself and one's notices for everybody; people, keys, webhooks and the workspace for admins.
import { useMay } from "../../api/me";
import { Page } from "../../ui/Page";
import { PathTabs } from "../../ui/PathTabs";
import { Keys } from "./Keys";
import { Notices } from "./Notices";
import { Oneself } from "./Oneself";
import { People } from "./People";
import { Webhooks } from "./Webhooks";
import { WorkspaceSettings } from "./WorkspaceSettings";
import { t } from "../../messages/settings";

const sections = [
  { path: "oneself", name: t("you"), admin: false, Shown: Oneself },
  { path: "notices", name: t("notifications"), admin: false, Shown: Notices },
  { path: "people", name: t("people"), admin: false, Shown: People },
  { path: "keys", name: t("apiKeys"), admin: true, Shown: Keys },
  { path: "webhooks", name: t("webhooks"), admin: true, Shown: Webhooks },
  { path: "workspace", name: t("workspace"), admin: false, Shown: WorkspaceSettings },
];

export default function Settings() {
  const admin = useMay("admin");
  return (
    <Page title={t("settings")}>
      <PathTabs screen="settings" parts={sections.filter((each) => admin || !each.admin)} maw={860} />
    </Page>
  );
}
