// The engine's work, for owners of the installation: queues, what fails, what recurs.
import { Tabs } from "@mantine/core";
import { IconLock } from "@tabler/icons-react";
import { useNavigate, useParams } from "react-router";

import { useMe, useWorkspaceId } from "../../api/me";
import { Empty } from "../../ui/Empty";
import { Page } from "../../ui/Page";
import { JobList } from "./JobList";
import { Queues } from "./Queues";
import { Schedules } from "./Schedules";

const parts = [
  { path: "queues", name: "Queues", Shown: Queues },
  { path: "list", name: "Jobs", Shown: JobList },
  { path: "schedules", name: "Schedules", Shown: Schedules },
];

export default function Jobs() {
  const { "*": path } = useParams();
  const go = useNavigate();
  const workspaceId = useWorkspaceId();
  const { instance_owner } = useMe();
  const chosen = parts.find((each) => each.path === path) ?? parts[0];
  if (!instance_owner) {
    return (
      <Page title="Jobs">
        <Empty icon={IconLock} title="For owners of this installation">
          Jobs are the background work of the whole house. Whoever runs it can look at them.
        </Empty>
      </Page>
    );
  }
  return (
    <Page title="Jobs" says="Background work of this installation: laying out posts, watching queues, cleaning up.">
      <Tabs
        value={chosen?.path ?? null}
        onChange={(next) => next !== null && void go(`/w/${workspaceId}/jobs/${next}`)}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          {parts.map((each) => (
            <Tabs.Tab key={each.path} value={each.path}>
              {each.name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {parts.map(({ path: name, Shown }) => (
          <Tabs.Panel key={name} value={name}>
            <Shown />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Page>
  );
}
