//! Linear programs for a float solver: `microlp` by default, HiGHS with the feature `highs` (design "Worst-case
//! execution time analysis", pipeline step 4). What a solver says is only ever a proposal: see `certificate`.

/// How the two sides of a row compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    AtMost,
    AtLeast,
    Equal,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub terms: Vec<(usize, f64)>,
    pub relation: Relation,
    pub right: f64,
}

/// Minimise Σ cost · column under the rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinearProgram {
    /// Cost, least and largest value of each column.
    pub columns: Vec<(f64, f64, f64)>,
    pub rows: Vec<Row>,
}

/// What a solver says.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Values(Vec<f64>),
    Infeasible,
    Unbounded,
    Failed(String),
}

impl LinearProgram {
    pub fn column(&mut self, cost: f64, least: f64, largest: f64) -> usize {
        self.columns.push((cost, least, largest));
        self.columns.len() - 1
    }

    pub fn row(&mut self, terms: Vec<(usize, f64)>, relation: Relation, right: f64) {
        self.rows.push(Row { terms, relation, right });
    }

    /// Solves with the best solver of this build.
    pub fn solve(&self) -> Answer {
        #[cfg(feature = "highs")]
        return self.solve_highs();
        #[cfg(not(feature = "highs"))]
        return self.solve_microlp();
    }

    pub fn solve_microlp(&self) -> Answer {
        use microlp::{ComparisonOp, Error, OptimizationDirection, Problem};
        let mut problem = Problem::new(OptimizationDirection::Minimize);
        let variables: Vec<_> = self
            .columns
            .iter()
            .map(|&(cost, least, largest)| problem.add_var(cost, (least, largest)))
            .collect();
        for row in &self.rows {
            let terms: Vec<_> = row.terms.iter().map(|&(c, factor)| (variables[c], factor)).collect();
            let operator = match row.relation {
                Relation::AtMost => ComparisonOp::Le,
                Relation::AtLeast => ComparisonOp::Ge,
                Relation::Equal => ComparisonOp::Eq,
            };
            problem.add_constraint(terms, operator, row.right);
        }
        match problem.solve() {
            Ok(outcome) => match outcome.into_solution() {
                Ok(solution) => Answer::Values(variables.iter().map(|&v| solution.var_value(v)).collect()),
                Err(_) => Answer::Failed("interrupted".to_owned()),
            },
            Err(Error::Infeasible) => Answer::Infeasible,
            Err(Error::Unbounded) => Answer::Unbounded,
            Err(error) => Answer::Failed(error.to_string()),
        }
    }

    #[cfg(feature = "highs")]
    pub fn solve_highs(&self) -> Answer {
        // Its presolve may only say that a program is one of unbounded and infeasible.
        self.highs(true)
            .or_else(|| self.highs(false))
            .unwrap_or_else(|| Answer::Failed("HiGHS cannot tell unbounded from infeasible".to_owned()))
    }

    #[cfg(feature = "highs")]
    fn highs(&self, presolve: bool) -> Option<Answer> {
        use highs::{HighsModelStatus, RowProblem, Sense};
        let mut problem = RowProblem::default();
        let columns: Vec<_> = self
            .columns
            .iter()
            .map(|&(cost, least, largest)| problem.add_column(cost, least..=largest))
            .collect();
        for row in &self.rows {
            let terms: Vec<_> = row.terms.iter().map(|&(c, factor)| (columns[c], factor)).collect();
            match row.relation {
                Relation::AtMost => problem.add_row(..=row.right, terms),
                Relation::AtLeast => problem.add_row(row.right.., terms),
                Relation::Equal => problem.add_row(row.right..=row.right, terms),
            };
        }
        let failed = |what: String| Some(Answer::Failed(format!("HiGHS: {what}")));
        let mut model = match problem.try_optimise(Sense::Minimise) {
            Ok(model) => model,
            Err(status) => return failed(format!("{status:?}")),
        };
        model.make_quiet();
        if !presolve {
            model.set_option("presolve", "off");
        }
        match model.try_solve() {
            Ok(solved) => match solved.status() {
                HighsModelStatus::Optimal => Some(Answer::Values(solved.get_solution().columns().to_vec())),
                HighsModelStatus::Infeasible => Some(Answer::Infeasible),
                HighsModelStatus::Unbounded => Some(Answer::Unbounded),
                HighsModelStatus::UnboundedOrInfeasible => None,
                status => failed(format!("{status:?}")),
            },
            Err(status) => failed(format!("{status:?}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// min −x − 2y, x + y ≤ 4, x − y ≥ −2, x = 1 + z: optimum at x = 1, y = 3, z = 0.
    fn small() -> LinearProgram {
        let mut program = LinearProgram::default();
        let x = program.column(-1.0, 0.0, f64::INFINITY);
        let y = program.column(-2.0, 0.0, f64::INFINITY);
        let z = program.column(0.0, f64::NEG_INFINITY, f64::INFINITY);
        program.row(vec![(x, 1.0), (y, 1.0)], Relation::AtMost, 4.0);
        program.row(vec![(x, 1.0), (y, -1.0)], Relation::AtLeast, -2.0);
        program.row(vec![(x, 1.0), (z, -1.0)], Relation::Equal, 1.0);
        program
    }

    fn solvers() -> Vec<fn(&LinearProgram) -> Answer> {
        vec![
            LinearProgram::solve_microlp,
            #[cfg(feature = "highs")]
            LinearProgram::solve_highs,
        ]
    }

    #[test]
    fn every_solver_finds_the_optimum() {
        for solve in solvers() {
            let Answer::Values(values) = solve(&small()) else { panic!("no optimum") };
            for (value, expected) in values.iter().zip([1.0, 3.0, 0.0]) {
                assert!((value - expected).abs() < 1e-6, "{values:?}");
            }
        }
    }

    #[test]
    fn every_solver_tells_infeasible_from_unbounded() {
        for solve in solvers() {
            let mut infeasible = small();
            infeasible.row(vec![(0, 1.0)], Relation::AtLeast, 5.0);
            assert_eq!(solve(&infeasible), Answer::Infeasible);
            let mut unbounded = small();
            unbounded.rows.remove(0);
            assert_eq!(solve(&unbounded), Answer::Unbounded);
        }
    }
}
