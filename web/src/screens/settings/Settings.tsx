// Settings: oneself and one's notices for everybody; people, keys, webhooks and the workspace for admins.
import { Tabs } from "@mantine/core";
import { useNavigate, useParams } from "react-router";

import { useMay, useWorkspaceId } from "../../api/me";
import { Page } from "../../ui/Page";
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

/** On a phone the chosen tab may lie beyond the edge. */
const intoView = (tab: HTMLElement | null) => tab?.scrollIntoView({ block: "nearest", inline: "center" });

export default function Settings() {
  const { "*": path } = useParams();
  const workspaceId = useWorkspaceId();
  const admin = useMay("admin");
  const go = useNavigate();
  const open = sections.filter((each) => admin || !each.admin);
  const chosen = open.find((each) => each.path === path) ?? open[0];
  return (
    <Page title="Settings">
      <Tabs
        value={chosen?.path ?? null}
        onChange={(next) => next !== null && void go(`/w/${workspaceId}/settings/${next}`)}
        keepMounted={false}
      >
        <Tabs.List mb="md" style={{ flexWrap: "nowrap", overflowX: "auto" }}>
          {open.map((each) => (
            <Tabs.Tab key={each.path} value={each.path} style={{ flex: "none" }} ref={each === chosen ? intoView : undefined}>
              {each.name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {open.map(({ path: name, Shown }) => (
          <Tabs.Panel key={name} value={name} maw={860}>
            <Shown />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Page>
  );
}
