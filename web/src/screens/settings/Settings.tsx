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

const sections = [
  { path: "oneself", name: "You", admin: false, Shown: Oneself },
  { path: "notices", name: "Notices", admin: false, Shown: Notices },
  { path: "people", name: "People", admin: false, Shown: People },
  { path: "keys", name: "API keys", admin: true, Shown: Keys },
  { path: "webhooks", name: "Webhooks", admin: true, Shown: Webhooks },
  { path: "workspace", name: "Workspace", admin: false, Shown: WorkspaceSettings },
];

export default function Settings() {
  const admin = useMay("admin");
  return (
    <Page title="Settings">
      <PathTabs screen="settings" parts={sections.filter((each) => admin || !each.admin)} maw={860} />
    </Page>
  );
}
