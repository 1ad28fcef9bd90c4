//! A few programs written by hand, for runs over every machine: each contains one difficult situation.

use super::ast::{Ast, Cond, Expr, Form, Op, Simple, Stmt, Value};

fn step(var: u8, by: i16) -> Stmt {
    Stmt::Assign(var, Expr::Binary(Op::Add, Value::Var(var), Value::Const(by)))
}

fn a_loop(form: Form, count: Value, mask: u8, body: Vec<Stmt>) -> Stmt {
    Stmt::Loop { form, count, mask, until: None, body }
}

/// Nested divergence of every kind; no early return, so that every mechanism runs them.
pub fn fixed_programs() -> Vec<Ast> {
    let odd = Cond::Is(Simple::Less(Value::Thread, Value::Const(5)));
    let nested_ifs = vec![Stmt::If(
        odd,
        vec![
            step(0, 1),
            Stmt::If(Cond::Is(Simple::Zero(Value::Var(1))), vec![step(1, 3)], vec![step(1, 5), step(0, 2)]),
        ],
        vec![Stmt::Guarded(odd, 2, Expr::Load(Value::Var(0))), step(3, 7)],
    )];
    // Zero trips for some lanes, an if in the loop, a do-while inside, results through the own slots.
    let loops = vec![
        a_loop(
            Form::While,
            Value::Thread,
            3,
            vec![
                Stmt::If(Cond::Is(Simple::Less(Value::Counter(0), Value::Var(0))), vec![step(0, 9)], vec![]),
                a_loop(
                    Form::DoWhile,
                    Value::Var(2),
                    1,
                    vec![step(1, 1), Stmt::Store { slot: Value::Counter(1), value: Value::Var(1) }],
                ),
                Stmt::Assign(3, Expr::Own(Value::Var(1))),
            ],
        ),
        step(0, 1),
    ];
    let early = vec![
        Stmt::Loop {
            form: Form::While,
            count: Value::Const(7),
            mask: 7,
            until: Some(Simple::Less(Value::Var(3), Value::Thread)),
            body: vec![
                Stmt::Assign(3, Expr::Binary(Op::Mul, Value::Var(3), Value::Const(3))),
                Stmt::If(Cond::Not(Simple::Negative(Value::Var(2))), vec![step(2, -3)], vec![step(2, 4)]),
            ],
        },
        Stmt::Store { slot: Value::Var(3), value: Value::Var(2) },
    ];
    [nested_ifs, loops, early].map(|body| Ast { body }).into()
}
