// The engine's work, for owners of the installation: queues, what fails, what recurs.
import { IconLock } from "@tabler/icons-react";

import { useMe } from "../../api/me";
import { Empty } from "../../ui/Empty";
import { Page } from "../../ui/Page";
import { PathTabs } from "../../ui/PathTabs";
import { JobList } from "./JobList";
import { Queues } from "./Queues";
import { Schedules } from "./Schedules";
import { t } from "../../messages/jobs";

const parts = [
  { path: "queues", name: t("queues"), Shown: Queues },
  { path: "list", name: t("jobs"), Shown: JobList },
  { path: "schedules", name: t("schedules"), Shown: Schedules },
];

export default function Jobs() {
  const { instance_owner } = useMe();
  if (!instance_owner) {
    return (
      <Page title={t("jobs")}>
        <Empty icon={IconLock} title={t("onlyForThePeopleWhoRun")}>
          {t("jobsAreTheServersBackgroundWork")}
        </Empty>
      </Page>
    );
  }
  return (
    <Page title={t("jobs")} message={t("theServersBackgroundWorkCreating")}>
      <PathTabs screen="jobs" parts={parts} />
    </Page>
  );
}
