// The engine's work, for owners of the installation: queues, what fails, what recurs.
import { IconLock } from "@tabler/icons-react";

import { useMe } from "../../api/me";
import { Empty } from "../../ui/Empty";
import { Page } from "../../ui/Page";
import { PathTabs } from "../../ui/PathTabs";
import { JobList } from "./JobList";
import { Queues } from "./Queues";
import { Schedules } from "./Schedules";

const parts = [
  { path: "queues", name: "Queues", Shown: Queues },
  { path: "list", name: "Jobs", Shown: JobList },
  { path: "schedules", name: "Schedules", Shown: Schedules },
];

export default function Jobs() {
  const { instance_owner } = useMe();
  if (!instance_owner) {
    return (
      <Page title="Jobs">
        <Empty icon={IconLock} title="For owners of this installation">
          Jobs are the background work of the whole installation. Whoever runs it can look at them.
        </Empty>
      </Page>
    );
  }
  return (
    <Page title="Jobs" says="Background work of this installation: laying out posts, watching queues, cleaning up.">
      <PathTabs screen="jobs" parts={parts} />
    </Page>
  );
}
